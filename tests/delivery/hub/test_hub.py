"""The Hub's configuration, its image and its values: what can be held without any of these."""

import ast
import asyncio
import json
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
import yaml
from jupyter_client.manager import KernelManager
from jupyter_core.paths import SYSTEM_CONFIG_PATH
from support.places import ROOT
from support.project import pyproject
from tornado.web import HTTPError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from delivery.classroom import __main__ as command
from lessonkit.lessons import RECORD, lessons
from tools.servers import free_port

HUB = ROOT / "delivery" / "hub"
START = HUB / "start_learner.py"
SERVER_EXTENSIONS = "etc/jupyter/jupyter_server_config.d"
LONGEST = 107  # characters in the name of a socket, on Linux
SERVER = """
import os, resource, sys
print("files of at most", resource.getrlimit(resource.RLIMIT_FSIZE)[1])
print("imported with the path", os.environ["PATH"])
def main():
    seen = os.getcwd(), os.environ["JUPYTER_RUNTIME_DIR"], os.environ["PATH"]
    open({told!r}, "w").write(repr((__name__, sys.argv[1:], *seen)))
"""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="a Hub runs on Linux")

# Of the chart's own schema, version 4.4: what we give values to. Below `config` are classes
# of the Hub's.
CHART = {
    "hub": {"config": {}},
    "singleuser": {
        "image": {"name": str, "tag": str},
        "cmd": str,
        "memory": {"guarantee": str, "limit": str},
        "cpu": {"guarantee": float, "limit": int},
        "storage": {"capacity": str},
    },
}
CHARTS_HUB, CHARTS_UID, CHARTS_HOME = "5.5", "1000", "/home/jovyan"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What loads the configuration as a Hub does, in an empty folder, and the commands that it runs then."""
    proxy = tmp_path / "bin" / "configurable-http-proxy"
    proxy.parent.mkdir()
    proxy.touch(mode=0o755)
    ran: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        ran.append(command)
        return SimpleNamespace(returncode=int("video" in command))  # a group has that name

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PATH", f"{proxy.parent}{os.pathsep}{os.environ['PATH']}")
    # Three for a class, three for one 10 further
    monkeypatch.setenv("LESSONS_PORT", str(free_port(13)))
    monkeypatch.setenv("LESSONS_ACCOUNTS", "no")
    monkeypatch.chdir(tmp_path)

    def load(folder: Path = HUB) -> Config:
        return PyFileConfigLoader("jupyterhub_config.py", path=str(folder)).load_config()

    return SimpleNamespace(load=load, ran=ran, proxy=proxy, folder=tmp_path)


def server_settings() -> Config:
    return PyFileConfigLoader("jupyter_server_config.py", path=str(HUB)).load_config()


# ---- the Hub ----


@on_linux
def test_thirty_servers_have_time_to_start(hub: Any) -> None:
    found = hub.load()
    assert found.Spawner.http_timeout == 180
    assert found.Spawner.poll_interval == 5  # who comes back is soon given a server again
    assert found.Spawner.cmd == [str(START)]
    assert hub.ran == [[str(START), "--prepare"]]
    assert os.access(START, os.X_OK)
    assert Path(
        found.Spawner.environment["JUPYTER_CONFIG_PATH"], "jupyter_server_config.py"
    ).exists()
    assert found.Spawner.environment["PATH"].startswith(str(Path(sys.executable).parent))


@on_linux
def test_the_class_and_the_teacher_keep_their_passwords(hub: Any) -> None:
    first, again = hub.load(), hub.load()
    assert first.JupyterHub.authenticator_class == "shared-password"
    for found in (first, again):
        # Or the Hub refuses it
        assert len(found.SharedPasswordAuthenticator.user_password) >= 8
        assert len(found.SharedPasswordAuthenticator.admin_password) >= 32
    assert first.SharedPasswordAuthenticator == again.SharedPasswordAuthenticator
    (kept,) = hub.folder.glob("class-*/passwords")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


@on_linux
def test_two_classes_share_nothing(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def used(found: Config) -> set[Any]:
        told = (
            found.JupyterHub,
            found.ConfigurableHTTPProxy,
            found.SharedPasswordAuthenticator,
        )
        return {
            str(value)
            for one in told
            for name, value in one.items()
            if not name.endswith("_class")
        }

    first = used(hub.load())
    monkeypatch.setenv("LESSONS_PORT", str(int(os.environ["LESSONS_PORT"]) + 10))
    assert len(first) == 8
    assert not first & used(hub.load())


@on_linux
@pytest.mark.parametrize("further", [0, 1, 2])
def test_a_taken_port_is_told(hub: Any, further: int) -> None:
    with socket.socket() as held:
        held.bind(("", int(os.environ["LESSONS_PORT"]) + further))
        held.listen()
        with pytest.raises(
            SystemExit,
            match=r"^lessonkit: Port \d+ is taken. For a Hub beside another, set LESS",
        ):
            hub.load()
    assert not [*hub.folder.glob("class-*")]


@on_linux
def test_a_hub_that_was_killed_takes_the_place_of_its_proxy_that_is_left(
    hub: Any,
) -> None:
    port = int(os.environ["LESSONS_PORT"])
    (folder := hub.folder / f"class-{port}").mkdir()
    program = [
        sys.executable,
        "-c",
        "import time; time.sleep(60)",
        "configurable-http-proxy",
    ]
    with socket.socket() as held, subprocess.Popen(program) as proxy:
        held.bind(("", port))
        held.listen()
        (folder / "proxy.pid").write_text(f"{proxy.pid}\n")
        while not Path(f"/proc/{proxy.pid}/cmdline").read_text():  # it begins
            pass
        assert hub.load().ConfigurableHTTPProxy.pid_file == str(folder / "proxy.pid")
        assert hub.ran == []  # learners wait, and all is prepared
        proxy.kill()
        proxy.wait()
        with pytest.raises(SystemExit, match="is taken"):  # by somebody else
            hub.load()


@on_linux
@pytest.mark.parametrize("port", ["eight", "0", "65534", "-1", ""])
def test_a_port_that_is_none_is_told(
    hub: Any, port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LESSONS_PORT", port)
    with pytest.raises(
        SystemExit, match=f"LESSONS_PORT={port}: must be a number from 1 to 65532"
    ):
        hub.load()


@on_linux
def test_a_board_has_a_port_of_its_own_and_ends_with_the_hub(
    hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = "http://lessons.school:8000/services/class/"
    monkeypatch.setenv("LESSONS_CLASS", at)
    (board,) = hub.load().JupyterHub.services
    port = int(os.environ["LESSONS_PORT"]) + 3
    asked = command.read(board["command"][3:])
    assert (asked.learners, asked.ip, asked.port) == (at, "127.0.0.1", port)
    assert (asked.proxy, asked.with_parent) == ("127.0.0.1", True)
    with socket.socket() as held:
        held.bind(("", port))
        held.listen()
        with pytest.raises(SystemExit, match=rf"^lessonkit: Port {port} is taken"):
            hub.load()


@on_linux
def test_a_missing_proxy_is_told(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(hub.folder))
    with pytest.raises(
        SystemExit,
        match="proxy is missing: npm install --global configurable-http-proxy",
    ):
        hub.load()


@pytest.fixture
def open_to_all(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The configuration where all accounts may read it, as root would have it, and a Python that is there."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    monkeypatch.delenv("LESSONS_ACCOUNTS", raising=False)
    with TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        yield Path(shutil.copytree(HUB, Path(folder) / "hub"))


@on_linux
def test_root_gives_learners_accounts_and_nobody_gets_another(
    hub: Any, open_to_all: Path
) -> None:
    found = hub.load(open_to_all)
    assert found.JupyterHub.spawner_class == "localprocess"
    give = found.Spawner.pre_spawn_hook
    give(SimpleNamespace(user=SimpleNamespace(name="no-such-learner")))
    assert hub.ran[-1][0] == "useradd"
    assert hub.ran[-1][-1] == "no-such-learner"
    # Another class has other learners
    assert f"class {os.environ['LESSONS_PORT']}" in hub.ran[-1][-2]
    for taken, reason in (
        ("root", "has an account"),
        ("video", "cannot make an account"),
    ):
        with pytest.raises(
            HTTPError, match=f"{taken}: this machine {reason} of that name"
        ) as refused:
            give(SimpleNamespace(user=SimpleNamespace(name=taken)))
        assert (
            "log out, and choose another" in vars(refused.value)["jupyterhub_message"]
        )  # a learner reads it
    assert found.Spawner.environment["LESSONS_PROCESSES"] == "400"
    name = re.compile(found.Authenticator.username_pattern)
    assert name.match("anna-2")  # as the Hub does
    assert not any(
        map(name.match, ("", "a\n", "Anna", "--root", "a b", "../a", "a" * 32, "ä"))
    )


@on_linux
def test_root_is_told_what_learners_cannot_reach(hub: Any, open_to_all: Path) -> None:
    open_to_all.chmod(0o700)
    with pytest.raises(
        SystemExit, match=rf"learners may not enter {open_to_all}; install it elsew"
    ):
        hub.load(open_to_all)


@on_linux
@pytest.mark.parametrize("user", [0, 1000])
def test_without_accounts_it_is_tried_out(
    hub: Any, user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if user:
        monkeypatch.delenv("LESSONS_ACCOUNTS")
    found = hub.load()
    assert found.JupyterHub.spawner_class == "simple"
    assert "pre_spawn_hook" not in found.Spawner
    # They would share one limit
    assert "LESSONS_PROCESSES" not in found.Spawner.environment
    homes = found.SimpleLocalProcessSpawner.home_dir_template
    assert homes.endswith("/learners/{username}")
    assert homes.startswith(str(hub.folder))


# ---- a learner's server ----


def test_kernels_listen_at_files_and_language_servers_stay_out() -> None:
    found = server_settings()
    assert found.KernelManager.transport == "ipc"
    assert KernelManager(config=found).transport == "ipc"
    assert found.ServerApp.jpserver_extensions == {
        "jupyter_lsp": False,
        "voila.server_extension": False,
    }
    enabled = [
        json.loads(path.read_text())
        for path in Path(sys.prefix, SERVER_EXTENSIONS).glob("*.json")
    ]
    names = {
        name
        for one in enabled
        for name in one.get("ServerApp", {}).get("jpserver_extensions", {})
    }
    # Or it would be another name now
    assert {*found.ServerApp.jpserver_extensions} <= names


@on_linux
def test_a_kernel_that_computes_stays_until_it_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states = {"waits": "idle", "computes": "busy", "begins": "starting"}

    async def start(_: Any, **__: Any) -> str:
        states["new"] = "idle"
        return "new"

    async def shutdown(_: Any, kernel: str) -> None:
        del states[kernel]

    async def cull(_: Any) -> None:
        pass

    ours = server_settings().ServerApp.kernel_manager_class
    theirs = ours.__mro__[1]
    for name, replaced in {"start_kernel": start, "cull_kernels": cull}.items():
        monkeypatch.setattr(theirs, name, replaced)
    monkeypatch.setattr(ours, "shutdown_kernel", shutdown)

    def listed(_: Any) -> list[dict[str, str]]:
        return [{"id": name, "execution_state": state} for name, state in states.items()]

    monkeypatch.setattr(ours, "list_kernels", listed)
    manager = ours()
    assert asyncio.run(manager.start_kernel()) == "new"
    assert [*states] == ["computes", "begins", "new"]
    states["computes"] = "idle"
    asyncio.run(manager.cull_kernels())
    assert [*states] == ["begins", "new"]


def test_the_first_lesson_opens_by_itself() -> None:
    found = server_settings()
    assert found.LabApp.default_url == found.ServerApp.default_url
    opened = Path(found.ServerApp.default_url)
    assert opened.parts[:4] == ("/", "lab", "tree", "lessons")
    assert opened.name == lessons()[0].name


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Any]:
    """What starts a learner's server, with modules in a server's place that tell how they were called."""
    told = tmp_path / "told"
    for name in ("jupyterlab/labapp", "jupyterhub/singleuser"):
        module = tmp_path / "modules" / f"{name}.py"
        module.parent.mkdir(parents=True)
        (module.parent / "__init__.py").touch()
        module.write_text(SERVER.format(told=str(told)))
    home = tmp_path / "home"
    home.mkdir()
    (home / "json.py").write_text("raise SystemExit('a file of the learner')")
    paths = os.pathsep.join([str(tmp_path / "modules"), str(ROOT)])
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": paths, "HOME": str(home)}

    def start(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", str(START), *arguments]
        return subprocess.run(
            command, env=environment | more, cwd=home, capture_output=True, text=True
        )

    # Pytest's own has too long a name
    with TemporaryDirectory(dir="/tmp") as environment["TMPDIR"]:
        yield SimpleNamespace(start=start, told=told, home=home)


@on_linux
def test_a_learner_gets_copies_and_short_names_for_sockets(learner: Any) -> None:
    answer = learner.start("--more", JUPYTERHUB_API_TOKEN="it")
    assert answer.returncode == 0, answer.stderr
    module, arguments, folder, runtime, path = ast.literal_eval(learner.told.read_text())
    assert {one.name for one in (learner.home / "lessons").glob("*.ipynb")} == {
        one.name for one in lessons()
    }
    assert (module, arguments) == ("jupyterhub.singleuser", ["--more"])
    assert (folder, path) == (str(learner.home), os.environ["PATH"])
    file = Path(runtime, f"kernel-{uuid4()}.json")
    address = KernelManager(config=server_settings(), connection_file=str(file)).ip
    assert len(f"{address}-5") <= LONGEST
    assert not Path(runtime).exists()  # the server has ended
    # JupyterLab is imported first, and finds no Node.
    assert f"imported with the path {os.devnull}" in answer.stdout.splitlines()

    # What the learner has written stays when the server starts again.
    mine = learner.home / "lessons" / lessons()[0].name
    mine.write_text(mine.read_text().replace('"source": [', '"source": ["# mine\\n",', 1))
    before = mine.read_text()
    assert "# mine" in before
    assert learner.start(JUPYTERHUB_API_TOKEN="it").returncode == 0
    assert mine.read_text() == before


@on_linux
def test_without_a_hub_jupyterlab_starts(learner: Any) -> None:
    assert learner.start("--port=8888").returncode == 0
    assert ast.literal_eval(learner.told.read_text())[:2] == (
        "jupyterlab.labapp",
        ["--ip=0.0.0.0", "--no-browser", "--port=8888"],
    )


@on_linux
def test_a_folder_with_too_long_a_name_is_told(learner: Any, tmp_path: Path) -> None:
    long = tmp_path / ("x" * 60)
    long.mkdir()
    answer = learner.start(TMPDIR=str(long))
    assert answer.returncode == 1
    assert "must have at most 57 characters; set TMPDIR" in answer.stderr
    assert not learner.told.exists()


@on_linux
def test_lessons_that_cannot_be_copied_are_told(learner: Any) -> None:
    (learner.home / "lessons").touch()
    answer = learner.start(JUPYTERHUB_API_TOKEN="it")
    assert answer.returncode
    assert "lessonkit: The lessons cannot be copied to" in answer.stderr
    assert not learner.told.exists()


@on_linux
def test_on_a_full_disk_a_learner_gets_in_with_the_lessons_of_before(
    learner: Any,
) -> None:
    (learner.home / "lessons").mkdir()
    shutil.copy(lessons()[0], learner.home / "lessons")
    (learner.home / "lessons" / RECORD / "in the way").mkdir(parents=True)
    (learner.home / ".cache").touch()
    answer = learner.start(JUPYTERHUB_API_TOKEN="it")
    assert "lessonkit: The lessons cannot be copied to" in answer.stderr
    assert learner.told.exists()


@on_linux
def test_a_file_of_a_learner_cannot_fill_the_disk(learner: Any) -> None:
    import resource  # Windows has none

    limit = str(resource.getrlimit(resource.RLIMIT_NPROC)[1])
    assert f"files of at most {2**30}\n" in learner.start(LESSONS_PROCESSES=limit).stdout
    # In a container of one's own
    assert f"files of at most {2**30}\n" not in learner.start().stdout


@on_linux
def test_learners_get_the_fonts_that_were_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    script = runpy.run_path(str(START))
    folders: list[str] = []

    def run(*_: Any, env: dict[str, str] | None = None, **__: Any) -> Any:
        folders.extend([env["MPLCONFIGDIR"]] if env else [])
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    assert script["prepare"]() == 0
    fonts = Path(folders[0]) / "fontlist-v1.json"
    fonts.parent.mkdir(parents=True)
    fonts.write_text("{}")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    script["give"](tmp_path / "home")
    assert (
        tmp_path / "home" / ".cache" / "matplotlib" / "fontlist-v1.json"
    ).read_text() == "{}"


def test_jupyter_does_without_what_is_left_out() -> None:
    left_out = ast.literal_eval(
        re.findall(r"for name in (.*):\n +sys.modules.* = None", START.read_text())[0]
    )
    assert {"rfc3987_syntax", "isoduration"} == {*left_out}
    check = f"""
import sys
sys.modules |= dict.fromkeys({left_out})
import jsonschema
jsonschema.FormatChecker().check("https://a.b", "uri")
sys.exit("lark" in sys.modules or "arrow" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


@on_linux
@pytest.mark.parametrize(
    ("uses", "read"), [("import jupyterhub.orm", 0), ("jupyterhub.orm.Base", 1)]
)
def test_a_learners_server_reads_the_hubs_database_only_if_it_uses_it(
    learner: Any, tmp_path: Path, uses: str, read: int
) -> None:
    folder = tmp_path / "modules" / "jupyterhub"
    (folder / "orm.py").write_text("print('read the database')\nBase = object")
    with (folder / "singleuser.py").open("a") as module:
        module.write(
            f"import jupyterhub.orm\nfrom sqlalchemy.exc import SQLAlchemyError\n{uses}"
        )
    (tmp_path / "modules" / "sqlalchemy").mkdir()
    (tmp_path / "modules" / "sqlalchemy" / "exc.py").write_text("SQLAlchemyError = OSError")
    answer = learner.start(JUPYTERHUB_API_TOKEN="it")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("read the database") == read
    assert learner.told.exists()


# ---- the image, and the values for a cluster ----


def steps() -> list[tuple[str, list[str]]]:
    """The Dockerfile's instructions, each with its words."""
    lines = (HUB / "Dockerfile").read_text().splitlines()
    return [
        (line.split()[0], line.split()[1:])
        for line in lines
        if line and not line.startswith("#")
    ]


def test_the_image_copies_what_there_is_and_all_that_the_package_needs() -> None:
    copied = [
        source
        for kind, words in steps()
        if kind == "COPY" and "--from=wheel" not in words
        for source in [word for word in words if not word.startswith("--")][:-1]
    ]
    assert all((ROOT / source).exists() for source in copied)
    made = pyproject()
    needed = {
        "pyproject.toml",
        made["project"]["readme"],
        *made["project"]["license-files"],
        *(
            name.rstrip("*")
            for name in made["tool"]["setuptools"]["packages"]["find"]["include"]
        ),
    }
    data = made["tool"]["setuptools"]["data-files"].values()
    needed |= {pattern.split("/")[0] for patterns in data for pattern in patterns}
    assert needed <= {*copied}


def test_the_image_starts_as_a_hub_and_a_person_expect() -> None:
    told = steps()
    copied = {words[-2]: words[-1] for kind, words in told if kind == "COPY"}
    assert copied["delivery/hub/jupyter_server_config.py"].rstrip("/") in SYSTEM_CONFIG_PATH
    assert copied["delivery/hub/start_learner.py"] == "/usr/local/bin/"
    assert (
        "COPY",
        ["--chmod=755", "delivery/hub/start_learner.py", "/usr/local/bin/"],
    ) in told
    assert ("RUN", ["start_learner.py", "--prepare"]) in told
    assert told[-1] == ("CMD", ['["start_learner.py"]'])
    assert [words for kind, words in told if kind == "USER"] == [[CHARTS_UID]]
    assert ("ENV", [f"HOME={CHARTS_HOME}"]) in told
    assert ("ARG", [f"JUPYTERHUB={CHARTS_HUB}"]) in told
    # What needs root comes before its rights are given up.
    kinds = [kind for kind, _ in told]
    assert "RUN" not in kinds[kinds.index("USER") :]


def known(given: Any, schema: Any) -> bool:
    if isinstance(schema, dict) and schema:
        return isinstance(given, dict) and all(
            name in schema and known(value, schema[name]) for name, value in given.items()
        )
    return isinstance(given, schema or dict)


@on_linux
def test_the_cluster_has_the_settings_of_the_hub(hub: Any) -> None:
    values = yaml.safe_load((HUB / "values.yaml").read_text())
    assert known(values, CHART)
    ours, theirs = hub.load(), values["hub"]["config"]
    assert (
        theirs["JupyterHub"]["authenticator_class"] == ours.JupyterHub.authenticator_class
    )
    assert theirs["KubeSpawner"] == {"http_timeout": ours.Spawner.http_timeout}
    theirs["Authenticator"]["admin_users"] = {*theirs["Authenticator"]["admin_users"]}
    assert theirs["Authenticator"] == dict(ours.Authenticator)
    # And no password for all to read
    assert {*theirs} == {"JupyterHub", "KubeSpawner", "Authenticator"}
    assert [values["singleuser"]["cmd"]] == [Path(one).name for one in ours.Spawner.cmd]
    version = pyproject()["project"]["version"]
    assert values["singleuser"]["image"]["tag"] == version
