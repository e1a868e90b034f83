"""Fixtures shared by the tests."""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tcsmt.interop.implementations import check
from tcsmt.prove.engine import engine, solving
from tests.support import certificates as small_certificates
from tests.support import solving_here
from tests.support.audits import audit_once
from tests.support.lying import Liars
from tests.support.paths import ROOT
from tests.support.processor_time import ProcessorTime

if sys.dont_write_bytecode:
    # Tests start many processes, and each would compile every module again: half of a run's time. They share
    # what is compiled, in a folder of this run. Workers of xdist find it set.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="tcsmt-compiled-")
    atexit.register(shutil.rmtree, sys.pycache_prefix, ignore_errors=True)


#: No test fails because the machine is busy.
settings.register_profile("tcsmt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tcsmt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Cases that their test names as slow have the marker of slow tests, and long ones have not: ``-m slow``
    would run them.
    """
    for item in items:
        call = getattr(item, "callspec", None)
        if call is not None and any(call.id in mark.args for mark in item.iter_markers("slow_cases")):
            item.add_marker("slow")
        if item.get_closest_marker("long") is not None:
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "slow"]


def pytest_configure(config: pytest.Config) -> None:
    """While tests are collected, Python looks for no cycles: there is little but what stays."""
    config.pluginmanager.register(ProcessorTime())
    gc.disable()


def pytest_collection_finish() -> None:
    """It looks for them once in the tests and the catalogue's graphs, and then seldom: an eighth of the time
    of a run went to that.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


def pytest_sessionfinish() -> None:
    """pytest looks for cycles five times more at its end: for seconds, among all terms that tests made."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> Iterator[None]:
    """Child processes take SIGINT, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def measured_data() -> Path:
    """The folder of measured rows beside the repository."""
    folder = ROOT.parent / "shared" / "hardware"
    if not (folder / "manifest.json").is_file():
        pytest.skip(f"{folder} has no measured data")
    return folder


@pytest.fixture
def unit_data() -> Path:
    """The folder of captured and emulated rows beside the repository."""
    folder = ROOT.parent / "shared" / "units"
    if not folder.is_dir():
        pytest.skip(f"there is no folder {folder}")
    return folder


@pytest.fixture
def cdna_data() -> Path:
    """The folder of published results of AMD's matrix cores beside the repository."""
    folder = ROOT.parent / "shared" / "units3" / "cdna"
    if not folder.is_dir():
        pytest.skip(f"there is no folder {folder}")
    return folder


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates of all kinds: to be copied, not changed."""
    pytest.importorskip("pysolvers", reason="the extra `certificates` is not installed")
    base = tmp_path_factory.getbasetemp()
    return small_certificates.made_once(base, "certificates", small_certificates.write_all)


@pytest.fixture
def liars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Liars:
    """Solvers that lie (see :mod:`.lying`); nothing that an earlier run has proved."""
    folder = tmp_path / "liars"
    folder.mkdir()
    monkeypatch.setenv("TCSMT_CACHE", str(tmp_path / "cache"))
    return Liars(folder, monkeypatch)


@pytest.fixture
def unsearched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine looks for no witness before it asks a solver."""
    monkeypatch.setattr(engine, "search", lambda question: None)


@pytest.fixture
def no_luck(unsearched: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As :func:`unsearched`; and solvers run in this process."""
    monkeypatch.setattr(solving, "solve", solving_here.solve)


@pytest.fixture
def one_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a check asks first of a unit is audited once, not for each implementation."""
    monkeypatch.setattr(check, "audit_of", audit_once)
