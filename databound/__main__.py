"""`python -m databound` is the command `databound`."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
