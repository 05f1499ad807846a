"""A Hub for a class of thirty on two cores: `jupyterhub --config delivery/hub/jupyterhub_config.py`.

docs/hub.md leads through it. Started by root, it gives each learner an account on
this machine, made at the first login. Started by anybody else, or with LESSONS_ACCOUNTS=no,
it is for trying out: all learners are then the same user.
"""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tornado.web import HTTPError

c = get_config()  # noqa: F821 (Jupyter gives it to its configuration)

HERE = Path(__file__).resolve().parent
# The next two are for the Hub and its proxy to talk, and the third is for a class's board
PORT = os.environ.get("LESSONS_PORT", "8000")
BOARD = os.environ.get("LESSONS_CLASS")
ACCOUNTS = os.geteuid() == 0 and os.environ.get("LESSONS_ACCOUNTS") != "no"
# By this, and the port, we know the accounts that we have made
OURS = "learner of the lessons"


def stop(text):
    """End with a sentence instead of a Hub that nobody can use."""
    sys.exit(f"lessonkit: {text}")


if not PORT.isdecimal() or not 0 < int(PORT) <= 65532:
    stop(f"LESSONS_PORT={PORT}: must be a number from 1 to 65532")
PORT = int(PORT)
FOLDER = Path(f"class-{PORT}").resolve()


def is_left():
    """Whether the proxy of this class still runs, after its Hub was killed: the next Hub takes its place."""
    try:
        proxy = int((FOLDER / "proxy.pid").read_text())
        return "configurable-http-proxy" in Path(f"/proc/{proxy}/cmdline").read_text()
    except (OSError, ValueError):
        return False


LEFT = is_left()
for port in () if LEFT else range(PORT, PORT + (4 if BOARD else 3)):
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("", port))
        except OSError:
            stop(
                f"Port {port} is taken. For a Hub beside another, set LESSONS_PORT, such as {PORT + 10}."
            )
if not shutil.which("configurable-http-proxy"):
    stop("The Hub's proxy is missing: npm install --global configurable-http-proxy")

# All that the Hub keeps is in one folder, so a second class beside this one has its own.
FOLDER.mkdir(mode=0o700, exist_ok=True)
c.JupyterHub.db_url = f"sqlite:///{FOLDER / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(FOLDER / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(FOLDER / "proxy.pid")

c.JupyterHub.bind_url = f"http://:{PORT}"
c.JupyterHub.hub_port = PORT + 1
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORT + 2}"
# Passwords and work pass over the network as they are. On one that you do not trust, get a
# certificate: c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = "/etc/...", "/etc/..."

# A class needs no accounts beforehand: everybody chooses a name, and one password, which
# you write on the board, lets them in. So anybody of the class can log in under another's
# name. Where that will not do, choose another authenticator; for accounts of this machine
# "pam", and leave give_account out. `teacher` is a user with another password, who can see
# and stop all servers.
PASSWORDS = FOLDER / "passwords"
if not PASSWORDS.exists():
    PASSWORDS.touch(mode=0o600)
    PASSWORDS.write_text(f"{secrets.token_hex(4)}\n{secrets.token_hex(16)}\n")
c.JupyterHub.authenticator_class = "shared-password"
(
    c.SharedPasswordAuthenticator.user_password,
    c.SharedPasswordAuthenticator.admin_password,
) = PASSWORDS.read_text().split()
c.Authenticator.allow_all = True
c.Authenticator.admin_users = {"teacher"}
# What may be the name of an account
c.Authenticator.username_pattern = r"[a-z][a-z0-9-]{0,30}\Z"
print(
    f"lessonkit: The passwords, the class's and the teacher's, are in {PASSWORDS}.",
    flush=True,
)


def give_account(spawner):
    """Make the account of a learner who comes for the first time; nobody gets one of another class."""
    name = spawner.user.name
    mine = f"{OURS}, class {PORT}"
    try:
        account = pwd.getpwnam(name).pw_gecos
    except KeyError:
        command = [
            "useradd",
            "--create-home",
            "--key",
            "HOME_MODE=0700",
            "--shell",
            "/bin/bash",
        ]
        # There is a group of that name
        if subprocess.run([*command, "--comment", mine, name]).returncode:
            refuse(
                f"{name}: this machine cannot make an account of that name; log out, and choose another"
            )
    else:
        if account != mine:
            refuse(
                f"{name}: this machine has an account of that name; log out, and choose another"
            )


def refuse(text):
    """End the start of a server with a sentence that its learner reads."""
    error = HTTPError(403, text)
    error.jupyterhub_message = text
    raise error


def comes_last(spare):
    """Say when the system may end this process, and what it starts, if memory runs out: 1000 is first."""
    with suppress(OSError):  # only root may ask for less than there is
        Path("/proc/self/oom_score_adj").write_text(str(spare))


# Learners' servers say for themselves that they may go first: start_learner.py
comes_last(-900)
c.Spawner.environment = {}
if ACCOUNTS:
    for path in (HERE, Path(sys.executable), Path(sys.executable).resolve()):
        if closed := [
            one for one in (path, *path.parents) if not one.stat().st_mode & 0o001
        ]:
            stop(
                f"{path}: learners may not enter {closed[-1]}; install it elsewhere, such as in /opt."
            )
    c.JupyterHub.spawner_class = "localprocess"
    c.Spawner.pre_spawn_hook = give_account
    # Of a learner, threads too: a lesson has about 30
    c.Spawner.environment = {"LESSONS_PROCESSES": "400"}
else:
    c.JupyterHub.spawner_class = "simple"
    c.SimpleLocalProcessSpawner.home_dir_template = str(FOLDER / "learners" / "{username}")

# When thirty servers start at once on two cores, they all take as long as the last one. The
# Hub's own patience, 30 s, would end them all.
c.Spawner.http_timeout = 180
# A server that nobody has used ends by itself. Until the Hub has seen that, it sends who comes
# back to a server that is not there; by itself it looks every 30 s.
c.Spawner.poll_interval = 5
c.Spawner.cmd = [str(HERE / "start_learner.py")]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
# For jupyter_server_config.py
c.Spawner.environment.update(PATH=PATH, JUPYTER_CONFIG_PATH=str(HERE))
if not LEFT:  # or learners wait
    subprocess.run(
        [*c.Spawner.cmd, "--prepare"], check=True, env={**os.environ, "PATH": PATH}
    )

# A board on which the class sees what all predict. LESSONS_CLASS is the address at which learners
# come to it before they log in, such as http://lessons.school:8000/services/class/
if BOARD:
    HEARS = PORT + 3
    # It ends with the Hub, also with one that is killed: the next Hub starts its own.
    ASKED = ["--at", BOARD, "--lessons", "/hub/", "--address", "127.0.0.1", "--with-parent"]
    c.JupyterHub.services = [
        {
            "name": "class",
            "url": f"http://127.0.0.1:{HEARS}",
            "command": [
                sys.executable,
                "-m",
                "delivery.classroom",
                *ASKED,
                "--port",
                str(HEARS),
            ],
            "cwd": str(HERE.parent.parent),
        }
    ]
