"""Where the things are that several tests look at."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SERVER_OF_HUB = ROOT / "delivery" / "hub" / "jupyter_server_config.py"
