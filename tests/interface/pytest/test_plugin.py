"""The plugin in a pytest of its own: what a failure prints and leaves; what it costs unused."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import tcsmt
from tests.support.emulators import EMULATOR
from tests.support.paths import ROOT

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "tcsmt.interface.pytest.plugin", "-p", "no:randomly")
TEST = """
import emulator

def test_dot(tcsmt_check):
    tcsmt_check("volta", emulator.dot, rows=9000)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv(
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"
    )  # where tcsmt is installed, it would be twice there
    pytester.makepyfile(emulator=EMULATOR, test_emulator=TEST)
    pytester.syspathinsert(ROOT)
    return pytester


@pytest.mark.slow
def test_a_failure_shows_the_witness_and_leaves_vectors(project: pytest.Pytester) -> None:
    first = project.runpytest_subprocess(*PLUGIN, "--junitxml=report.xml", "--basetemp=made")
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(
        [
            "a row on which dot differs from volta/mma.m8n8k4.f32.f16.f16.f32, as short as was found:",
            "what the unit does:",
            "*largest exponent *",
            "dot is not volta/mma.m8n8k4.f32.f16.f16.f32: * of *,*** rows differ",
            "it looks like: IEEE additions in f32, in order, k0 first, from c on;*",
            "rows and answers: *answers-1.json",
        ]
    )
    first.stdout.no_fnmatch_line("*kept from an earlier run*")
    (left,) = project.path.glob("made/test_dot0/answers-1.json")
    assert tcsmt.validate(left).exit_code == 1  # it reads them, and some differ
    vectors = left.read_text()
    properties = {
        one.get("name"): one.get("value")
        for one in ElementTree.parse(project.path / "report.xml").iter("property")
    }
    assert int(properties["tcsmt.rows"] or 0) >= 9000 and properties["tcsmt.kept"] == "False"

    second = project.runpytest_subprocess(*PLUGIN, "--basetemp=made")
    second.assert_outcomes(failed=1)
    second.stdout.fnmatch_lines(["it looks like: IEEE additions*", "(kept from an earlier run: nothing*"])
    (left,) = project.path.glob("made/test_dot0/answers-1.json")
    assert left.read_text() == vectors

    (project.path / "emulator.py").write_text(EMULATOR.replace("c = c + x * y", "raise KeyError('new')"))
    third = project.runpytest_subprocess(*PLUGIN)  # it is asked again, which is over at once
    third.assert_outcomes(failed=1)
    third.stdout.fnmatch_lines(["*KeyError*new*"])
    third.stdout.no_fnmatch_line("*kept from an earlier run*")


def test_bad_rows(project: pytest.Pytester) -> None:
    done = project.runpytest_subprocess(*PLUGIN, "--tcsmt-rows", "0")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--tcsmt-rows: '0': must be an integer, 1 or more"])


def test_it_costs_nothing_unused() -> None:
    program = (
        "import sys, pytest, tcsmt.interface.pytest.plugin as plugin; "
        "print(sorted(name for name in sys.modules if name.startswith(('tcsmt', 'numpy'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT
    )
    names = json.loads(done.stdout.replace("'", '"'))
    assert set(names) <= {
        "tcsmt",
        "tcsmt.interface",
        "tcsmt.interface.pytest",
        "tcsmt.interface.pytest.plugin",
        "tcsmt.support",
        "tcsmt.support.version",
    }


def test_the_entry_point_names_it() -> None:
    import tomllib

    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert points == {"pytest11": {"tcsmt": "tcsmt.interface.pytest.plugin"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("assert_close(np.zeros((2, 2)), a, a.T, kernel='ieee/fma.f32.f16')", "never computed"),
        ("assert_close(np.zeros((2, 2)), a, a.T, kernel='ieee/fma.f32.f1')", "unknown unit"),
        ("assert_close(np.zeros((3, 2)), a, a.T, kernel='ieee/fma.f32.f16')", "D has shape"),
        ("assert_close(a, a * np.inf, a.T, kernel='ieee/fma.f32.f16')", "A*finite"),
    ],
)
def test_a_failure_shows_the_test_and_no_line_of_tcsmt(
    pytester: pytest.Pytester, call: str, message: str
) -> None:
    pytester.syspathinsert(ROOT)
    pytester.makepyfile(
        f"import numpy as np\nfrom tcsmt.testing import assert_close\n\n"
        f"def test_close():\n    a = np.ones((2, 32), np.float16)\n    {call}\n"
    )
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(failed=1)
    text = done.stdout.str()
    done.stdout.fnmatch_lines([f"*{message}*"])
    assert call in text
    assert not [line for line in text.splitlines() if "tcsmt/interface" in line or "tcsmt/analysis" in line]


POWER = """
import pytest

DRAWN = dict(kernel="ieee/fma.f32.bf16", generator="normal", shape=(8, 8, 64))

@pytest.mark.tcsmt_power("zeros", "last-k", criterion="pcc>=0.99", **DRAWN)
def test_weak():
    pass

@pytest.mark.tcsmt_power("zeros", "last-k", rtol=1e-5, atol=1e-4, **DRAWN)
def test_strong():
    pass

@pytest.mark.tcsmt_power("nothing", rtol=1e-5, atol=1e-4, **DRAWN)
def test_unknown():
    pass
"""


def test_a_criterion_that_lets_a_wrong_kernel_through_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(POWER)
    done = pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, errors=2)
    done.stdout.fnmatch_lines(["the right kernel passes", "1 of 2 wrong kernels pass:", "  last-k *"])
    done.stdout.fnmatch_lines(["tcsmt_power: *nothing*"])
