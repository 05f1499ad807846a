"""What is asked for: the same everywhere."""

import re
from typing import Any

import pytest
import yaml
from support.places import ROOT
from support.project import pyproject

from tools import start, targets, torch_tests

# What a package is called for conda, and for pip
RENAMED = {"matplotlib-base": "matplotlib"}
# What conda and pip both read the same way: a name, a lower bound, and a minor version to leave out.
PLAIN = re.compile(r"([a-z][a-z0-9-]*)>=([0-9]+(?:\.[0-9]+)*(?:,!=[0-9]+\.[0-9]+\.\*)?)")


def bounds(requirements: list[str]) -> dict[str, str]:
    found = [PLAIN.fullmatch(requirement) for requirement in requirements]
    assert all(found), requirements
    return {match[1]: match[2] for match in found if match}


PROJECT = pyproject()["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_conda_gets_the_packages_and_bounds_of_pip() -> None:
    asked = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert [entry for entry in asked if entry == "pip" or isinstance(entry, dict)] == [
        "pip",
        {"pip": [".[class,demo]"]},
    ]
    conda = bounds([entry for entry in asked if isinstance(entry, str) and entry != "pip"])
    pip = bounds(
        [
            requirement
            for extra in ("lessons", "class", "demo")
            for requirement in EXTRAS[extra]
            if requirement != "lessonkit[lessons]"
        ]
    )
    python = {"python": PROJECT["requires-python"].removeprefix(">=")}
    assert {RENAMED.get(name, name): least for name, least in conda.items()} == pip | python


def test_the_package_alone_brings_nothing_else() -> None:
    assert PROJECT["dependencies"] == []


def test_the_oldest_python_is_the_same_everywhere() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert tuple(map(int, oldest.split("."))) == start.OLDEST
    jobs = workflow("test")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"][0] == oldest
    assert f"--python {oldest} " in jobs["oldest"]["steps"][-1]["run"]
    for document in ("README.md", "docs/hub.md"):
        assert f"Python {oldest} or newer" in (ROOT / document).read_text(encoding="utf-8")


def test_actions_are_pinned_by_their_commits_with_the_version_beside() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for action in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), path.name


def test_a_branch_with_a_pull_request_is_tested_once() -> None:
    starts = workflow("test")[True]  # YAML reads `on` as a yes
    assert starts["push"] == {"branches": ["main"]}
    assert "pull_request" in starts


def test_the_site_is_walked_through_before_it_is_published() -> None:
    jobs = workflow("site")["jobs"]
    runs = [step.get("run") for step in jobs["build"]["steps"]]
    assert "make test-site" in runs
    assert jobs["publish"]["needs"] == "build"
    # Also what `make test` runs of it each time
    firefox, short, long = targets.TARGETS["test-site"].runs
    assert firefox == ("tools.firefox",)
    assert "tests/delivery/site" in short
    assert "-m" not in short
    assert long[-2:] == ("-m", "long")


def workflow(name: str) -> Any:
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())


def test_what_asks_for_pytorch_is_tested_with_it_and_its_absence_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        str(ROOT / "tests" / "databound" / "test_stand_in_torch.py") in torch_tests.tests()
    )
    assert str(ROOT / "tests" / "house" / "test_packages.py") not in torch_tests.tests()
    ran = list[list[str]]()

    def fail(command: list[str], **_: Any) -> Any:
        ran.append([*command])
        return type("Ended", (), {"returncode": 1})

    monkeypatch.setattr("subprocess.run", fail)
    monkeypatch.setenv("LESSONKIT_TORCH", "torch==2.13.0")
    assert torch_tests.main([]) == 1
    assert "PyTorch cannot be installed" in capsys.readouterr().out
    (installed,) = [command for command in ran if "install" in command]
    assert "torch==2.13.0" in installed
    assert set(torch_tests.FRAMEWORKS) < set(installed)
    torch_tests.add_torchdata({})
    assert ran[-1][-2:] == ["--no-deps", "torchdata"]
