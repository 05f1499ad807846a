"""A plugin of pytest that notes of each test which lines it runs, how long it takes, and what it shares.

    python -m pytest -p tools.mutants.record --record=FOLDER --recorded=PACKAGE ...

Forked workers and other processes are measured too: they inherit the name of the test that started
them. What a test shares is whatever is made once for several tests: a fixture that lives longer than
one test, and the value of a function of the tests that has a cache. Only the first test that asks for
it runs its lines, but all of them judge it.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from coverage import Coverage

# Written into the folder, one of each for every pytest that records.
SETTINGS = "coverage.ini"
LINES = "lines"
TESTS = "tests.{}.json"


@dataclass
class Ran:
    """What is known of a test that has run.

    Attributes:
        seconds: How long it took, with its fixtures.
        passed: Whether it ran and did not fail.
        shared: Names of what it shares with other tests.

    """

    seconds: float = 0.0
    passed: bool = True
    shared: set[str] = field(default_factory=set)


def name_of(item: pytest.Item) -> str:
    """Return the name of a test, without the addresses that a `repr` in it may have.

    These differ from one process to the next.
    """
    return re.sub("0x[0-9a-f]+", "0x", item.nodeid)


def settings(packages: list[str]) -> str:
    """Return the settings with which coverage measures *packages*, in every process."""
    return f"""[run]
source = {",".join(packages)}
relative_files = true
parallel = true
sigterm = true
disable_warnings = no-data-collected,module-not-imported,no-sysmon
patch =
    subprocess
    fork
    _exit
"""


class Recorder:
    """Measures the lines of every test under the test's name."""

    def __init__(self, folder: Path, packages: list[str]) -> None:
        config = folder / SETTINGS
        config.write_text(settings(packages), encoding="utf-8")
        self.folder = folder
        self.packages = packages
        self.coverage = Coverage(data_file=folder / LINES, config_file=str(config))
        self.tests: dict[str, Ran] = {}
        self.wide: set[str] = set()  # fixtures that live longer than a test
        self.current = Ran()

    def start(self) -> None:
        """Begin to measure, and to notice who asks a function with a cache."""
        self.name("")
        functools.lru_cache = self.noticed(functools.lru_cache)  # `cache` calls it as well
        self.coverage.start()

    def name(self, test: str) -> None:
        """Let everything that runs from now on, here and in new processes, count for *test*."""
        self.coverage.set_option("run:context", test)
        os.environ["COVERAGE_PROCESS_CONFIG"] = self.coverage.config.serialize()

    def noticed(self, decorator: Callable[..., Any]) -> Callable[..., Any]:
        """Return *decorator*, one that gives a cache, such that functions of tests note who asks."""

        def decorate(*given: Any, **options: Any) -> Any:
            if not (given and callable(given[0])):
                return self.noticed(decorator(*given, **options))
            function = given[0]
            cached = decorator(function, *given[1:], **options)
            if not self.of_tests(function):
                return cached

            name = f"{function.__module__}.{function.__qualname__}"

            @functools.wraps(function)
            def ask(*args: Any, **named: Any) -> Any:
                texts = [arg for arg in args if isinstance(arg, str)]
                self.current.shared.add(" ".join([name, *texts]))
                return cached(*args, **named)

            for attribute in ("cache_clear", "cache_info", "cache_parameters"):
                setattr(ask, attribute, getattr(cached, attribute))
            return ask

        return decorate

    def of_tests(self, function: Callable[..., Any]) -> bool:
        """Return whether *function* is of this project, and not of the packages."""
        code = getattr(function, "__code__", None)
        if code is None or not Path(code.co_filename).is_relative_to(Path.cwd()):
            return False
        folder = Path(code.co_filename).relative_to(Path.cwd()).parts[0]
        return folder not in self.packages

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure one test."""
        name = name_of(item)
        self.current = self.tests[name] = Ran()
        self.name(name)
        self.coverage.switch_context(name)
        began = perf_counter()
        try:
            return (yield)
        finally:
            self.current.seconds = perf_counter() - began
            self.coverage.switch_context("")
            self.name("")
            self.current.shared |= self.wide & set(getattr(item, "fixturenames", ()))

    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        """Note which fixtures of ours live longer than a test."""
        if fixturedef.scope != "function" and self.of_tests(fixturedef.func):
            self.wide.add(fixturedef.argname)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note of a test that it failed or was left out, in any of its phases."""
        self.current.passed &= report.passed

    def pytest_sessionfinish(self) -> None:
        """Write down everything."""
        self.coverage.stop()
        self.coverage.save()
        found = {name: asdict(test) for name, test in self.tests.items()}
        text = json.dumps(found, indent=1, default=sorted)
        (self.folder / TESTS.format(os.getpid())).write_text(text, encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two options: where to write, and what to measure."""
    parser.addoption("--record", type=Path, required=True)
    parser.addoption("--recorded", action="append", default=[])


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin before the first module of the tests is imported."""
    options = early_config.known_args_namespace
    recorder = Recorder(options.record, options.recorded)
    early_config.pluginmanager.register(recorder)
    recorder.start()
