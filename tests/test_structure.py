"""The package's structure: rooms import downward only, and every room and test is where one looks for it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import click
import pytest

import tcsmt
from tcsmt.matrix_units.arithmetic.rounding import ROUNDINGS
from tcsmt.matrix_units.catalogue.naming import ARCHITECTURES, aliases, gpus
from tests.support.code_size import code_lines, functions
from tests.support.paths import ROOT


def test_rooms_import_only_from_below() -> None:
    """The contracts in pyproject.toml: layers, and no circles."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


#: The eleven wings, the highest first.
WINGS = (
    "interface", "interop", "surveys", "analysis", "identification", "programs", "prove", "simulate",
    "matrix_units", "language", "support",
)  # fmt: skip

#: Modules at the top of the package, which users import by name.
PUBLIC = {"investigation", "testing", "torch", "triton"}


def test_the_package_has_eleven_wings() -> None:
    """And modules: what it names, what ``python -m tcsmt`` runs, what users import."""
    package = ROOT / "tcsmt"
    assert {path.parent.name for path in package.glob("*/__init__.py")} == set(WINGS)
    assert {path.stem for path in package.glob("*.py")} == {"__init__", "__main__", *PUBLIC}


def test_no_wing_hides_a_public_name() -> None:
    """Importing a folder ``tcsmt/units`` would put it in the place of the call ``tcsmt.units``."""
    assert not set(WINGS) & set(dir(tcsmt))


def test_commands_may_import_nothing_below_the_interface() -> None:
    """The contract names all that there is: a wing or a room that is added is named there, too."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one.get("source_modules") == ["tcsmt.interface.cli"])
    rooms = {path.parent.name for path in (ROOT / "tcsmt" / "interface").glob("*/__init__.py")} - {
        "api",
        "cli",
    }
    below = {*WINGS[1:], *(f"interface.{room}" for room in rooms), *PUBLIC}
    assert {*contract["forbidden_modules"]} == {f"tcsmt.{name}" for name in below}
    assert contract["type"] == "forbidden" and not contract.get("ignore_imports")


@cache
def tree(path: Path) -> ast.Module:
    """Several tests look at all modules."""
    return ast.parse(path.read_text())


def imported(path: Path) -> Iterator[str]:
    """The names that a module imports, with their modules'."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def test_no_test_imports_another_test() -> None:
    """What several tests need is in ``tests/support`` or ``tests/oracles``."""
    assert "tests.support.paths.ROOT" in set(imported(Path(__file__)))
    for path in (ROOT / "tests").rglob("*.py"):
        for name in imported(path):
            first, *rest = name.split(".")
            assert first, f"{path}: a relative import"
            wrong = first.startswith("test_") or (
                first == "tests" and any(p.startswith("test_") for p in rest)
            )
            assert not wrong, f"{path} imports {name}"


def test_folders_of_tests_mirror_rooms() -> None:
    """A room's tests are in the folder of its name; the oracles, benchmarks and results have tests, too."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    others = {Path("oracles"), Path("benchmarks"), Path("results"), Path("results/form_proofs")}
    assert all((ROOT / "tcsmt" / folder / "__init__.py").is_file() for folder in folders - others)
    rooms = {path.parent.relative_to(ROOT / "tcsmt") for path in (ROOT / "tcsmt").glob("*/*/__init__.py")}
    assert len(rooms) > 25 and rooms <= folders


def test_a_name_is_that_of_one_class() -> None:
    """Of the public ones; a leading underscore says that a module keeps the name to itself."""
    homes: dict[str, list[str]] = {}
    for path in (ROOT / "tcsmt").rglob("*.py"):
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert len(homes) > 100
    assert not {name: where for name, where in homes.items() if len(where) > 1}


def test_prose_does_not_begin_with_the_name_of_a_class() -> None:
    """A class that is renamed leaves such words where a plain noun stood: "LongRows of a domain"."""
    modules = sorted((ROOT / "tcsmt").rglob("*.py"))
    classes = {
        node.name for path in modules for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)
    }
    names = {name for name in classes if re.match("[A-Z][a-z]+[A-Z]", name)}
    assert len(names) > 300
    first = re.compile(r'(?:"""|#:? )(\w+) ')
    wrong = [
        f"{path}: {line.strip()}"
        for path in modules
        for line in path.read_text().splitlines()
        if (found := first.match(line.strip())) and found[1] in names
    ]
    assert not wrong


def command_modules() -> dict[str, list[str]]:
    """The modules of commands, as paths in the package, with the names of the commands' tests."""
    from tcsmt.interface.cli import main
    from tcsmt.interface.cli.lazy import Lazy

    found: dict[str, list[str]] = {}
    for name in main.summaries:
        group = main.get_command(click.Context(main), name)
        if isinstance(group, Lazy):
            inside = group.package == f"{main.package}.{name}"  # a room of its own
            for own in group.summaries:
                module = f"{group.package}.{group.modules.get(own, own)}"
                found.setdefault(module, []).append(own if inside else f"{name}_{own}")
        else:
            module = f"{main.package}.{main.modules.get(name, name)}"
            found.setdefault(module, []).append(name)
    return {
        module.removeprefix("tcsmt.").replace(".", "/"): [re.sub("[ -]", "_", name) for name in names]
        for module, names in found.items()
    }


def test_every_topic_has_a_test_file_of_its_name() -> None:
    """A module is a topic: ``tcsmt/ROOM/MODULE.py`` is tested by ``tests/ROOM/test_MODULE.py``.

    Of a module of commands, each command has a test of its name.
    """
    missing, commands = set(), command_modules()
    assert len(commands) > 5 and sum(map(len, commands.values())) > 40
    for home, names in commands.items():
        paths = [ROOT / "tests" / Path(home).parent / f"test_{name}.py" for name in names]
        missing |= {path.name for path in paths if not path.is_file()}
    for path in (ROOT / "tcsmt").rglob("*.py"):
        module = path.relative_to(ROOT / "tcsmt").with_suffix("")
        test = ROOT / "tests" / module.parent / f"test_{module.name.lstrip('_')}.py"
        own = module.name not in ("__init__", "__main__") and module.as_posix() not in commands
        if own and not test.is_file():
            missing.add(module.as_posix())
    assert not missing


#: Tests of whole rooms, and of what lies beside the package: named for what they are about.
WHOLE = {
    "analysis": {"referee"},
    "programs/kernels": {"referee"},
    "interface/api": {"docstrings"},
    "interface/cli": {"accuracy", "cli", "help", "stopping"},
    "interface/pictures": set(),
    "interop/exports": set(),
    "interop/hardware": {"arm", "x86"},
    "surveys/claims": {"claims"},
    "surveys/properties": {"properties"},
    "matrix_units/catalogue": {
        "against_mmasim",
        "catalogue",
        *("amd", "arm", "nvidia", "rdna", "riscv", "tenstorrent", "x86"),  # rows of some files
    },
    "matrix_units/files": set(),
}


@pytest.mark.parametrize("room", WHOLE)
def test_every_test_is_named_for_a_module_or_its_room(room: str) -> None:
    """Or for a command."""
    unnamed, commands = set(), {name for names in command_modules().values() for name in names}
    for path in (ROOT / "tests" / room).rglob("test_*.py"):
        name = path.stem.removeprefix("test_")
        folder = ROOT / "tcsmt" / path.parent.relative_to(ROOT / "tests")
        of_command = path.parent.name in ("cli", "accuracy") and name in commands
        if not of_command and not any((folder / f"{module}.py").is_file() for module in (name, f"_{name}")):
            unnamed.add(name)
    assert unnamed == WHOLE[room]


def test_a_command_lives_in_the_module_that_its_group_names() -> None:
    for module, names in command_modules().items():
        imported_module = import_module(f"tcsmt.{module.replace('/', '.')}")
        for name in names:
            assert any(hasattr(imported_module, own) for own in (name, name.partition("_")[2]))


def test_the_checker_can_be_read_in_one_sitting() -> None:
    """All that checks a certificate, apart from what puts one into words, and what can only refuse: a sceptic
    reads it.
    """
    modules = {path.name: path for path in (ROOT / "tcsmt" / "prove" / "certificates").glob("*.py")}
    del modules["description.py"], modules["stated.py"], modules["parts.py"]
    assert {"checker.py", "derivation.py", "lemma_files.py", "lrat.py", "statement.py"} < modules.keys()
    assert sum(len(path.read_text().splitlines()) for path in modules.values()) < 1000


def test_the_checker_rests_on_little() -> None:
    """On what defines models and clauses: no solver, engine, simulator or catalogue. Docs list it."""
    spec = spec_from_file_location("trusted", ROOT / "docs" / "_ext" / "trusted.py")
    assert spec is not None and spec.loader is not None
    trusted = module_from_spec(spec)
    sys.modules["trusted"] = trusted  # dataclasses look their module up
    spec.loader.exec_module(trusted)
    modules = {one.name: one.lines for one in trusted.closure()}
    refusing = modules["tcsmt.prove.certificates.parts"]  # it lets nothing through that others do not check
    assert sum(modules.values()) - refusing <= 8150
    rooms = {".".join(name.split(".")[1:3]) for name in modules}
    assert {room for room in rooms if not room.startswith("support")} == {
        "language", "language.graphs", "language.macros", "language.terms", "language.write", "matrix_units",
        "matrix_units.arithmetic", "matrix_units.models", "prove", "prove.certificates", "prove.statements",
    }  # fmt: skip
    languages = {name for name in modules if re.match(r"tcsmt\.language\.(graphs|read|write)\.", name)}
    assert languages == {
        "tcsmt.language.graphs.digest", "tcsmt.language.write.cnf", "tcsmt.language.write.inlining",
        "tcsmt.language.write.smtlib",
    }  # fmt: skip
    designs = {one.name for one in trusted.closure(trusted.DESIGNS)} - modules.keys()
    assert designs == {
        "tcsmt.language.read", "tcsmt.language.read.btor2_reader", "tcsmt.language.read.joining",
        "tcsmt.matrix_units.models.circuit",
    }  # fmt: skip
    code = "import sys, tcsmt.prove.certificates.checker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {name for name in loaded if name.startswith("tcsmt.")} == modules.keys()
    assert not {"numpy", "llvmlite", "bitwuzla", "z3"} & set(loaded)


def test_lines_and_branches_are_counted(tmp_path: Path) -> None:
    """By ``python -m tests.support.code_size``."""
    planted = tmp_path / "planted.py"
    planted.write_text(
        '''"""Two lines
of docstring."""

X = """Two lines
of text"""  # a comment


class Named:
    """A docstring."""

    # a comment
    def branched(self, a: int) -> int:
        """A docstring."""
        if a and [b for b in (a,) if b]:
            return 1
        match a:
            case 1:
                return 2
            case _:
                return 3
'''
    )
    assert code_lines(planted) == 11
    assert [(f.name, f.complexity, f.rank) for f in functions(planted)] == [("Named.branched", 6, "B")]


#: What names architectures: data, the probes and papers, published claims, and what is said to users.
NAMING = ("matrix_units/catalogue", "interop/hardware", "surveys/papers", "surveys/claims", "interface/cli")
#: The curated scripts ask about units by name.
CURATED = ROOT / "tcsmt" / "surveys" / "properties" / "scripts.py"


def mechanism() -> list[Path]:
    """Every module but those in rooms that name architectures."""
    naming = [ROOT / "tcsmt" / room for room in NAMING]
    return [path for path in (ROOT / "tcsmt").rglob("*.py") if not set(naming) & set(path.parents)]


VENDORS = ("nvidia", "amd", "cdna", "rdna", "gfx", "geforce", "radeon")


def named_architectures(path: Path) -> list[str]:
    """Names and texts of a module's code that name an architecture, a GPU or a vendor; not its docstrings.

    Nor a macro such as ``__x86_64__``, by which C tells the machine that it is compiled for.
    """
    module = tree(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    prose = {
        id(node.body[0].value)
        for node in ast.walk(module)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    texts = []
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            texts.append(re.sub(r"__\w+?__", "", node.value))
        names = (getattr(node, field, None) for field in ("id", "attr", "name", "arg"))
        texts += [name for name in names if isinstance(name, str)]
    known = [*ARCHITECTURES, *aliases(), *gpus(), *VENDORS]
    pattern = re.compile(rf"(?<![a-z0-9])({'|'.join(map(re.escape, known))})(?![a-z])", re.IGNORECASE)
    return [text for text in texts if pattern.search(text.replace("_", " ")) or pattern.search(text)]


def test_no_architecture_in_the_mechanism(tmp_path: Path) -> None:
    made = tmp_path / "made.py"
    made.write_text('"""Volta."""\nNVIDIA_NAN = 1\nx = "as on hopper"\ny = "data"\nz = "h100/mma"\n')
    assert sorted(named_architectures(made)) == ["NVIDIA_NAN", "as on hopper", "h100/mma"]
    assert len(mechanism()) > 300
    for path in mechanism():
        assert not named_architectures(path) or path == CURATED, path


def compared_roundings(path: Path) -> list[str]:
    """Where a module compares a rounding's name, or which rounding it is, instead of asking what it does."""
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Compare):
            sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
            named = any(re.search(r"(rounding|mode)(\.name)?$", side) for side in sides)
            known = any(re.search(rf"ROUNDINGS\[|'({'|'.join(ROUNDINGS)})'", side) for side in sides)
            found += [ast.unparse(node)] if named and known else []
    return found


def test_what_is_kept_of_programs_is_of_the_code_of_all_their_rooms() -> None:
    """Rooms of programs rest on each other: a digest of one room alone misses a change in the next."""
    wanted = re.compile(r"(?:digest_of_sources|engine_digest)\(([^()]*)\)|_SOURCES = \(([^()]*)\)")
    texts = {path: path.read_text() for path in (ROOT / "tcsmt").rglob("*.py")}
    asked = {path: "".join(map("".join, wanted.findall(text))) for path, text in texts.items()}
    assert sum('"programs"' in rooms for rooms in asked.values()) >= 7
    for path, rooms in asked.items():
        assert '"programs/' not in rooms, path


def test_nobody_compares_the_name_of_a_rounding(tmp_path: Path) -> None:
    """The classical probes have names of their own for what they see."""
    made = tmp_path / "made.py"
    made.write_text(
        "a = one.rounding.name == 'RNE'\nb = mode is not ROUNDINGS['RTO']\n"
        "c = rounding.name in ('RTZ', 'RNE')\nd = rounding.truncates\n"
        "e = ROUNDINGS['RNE']\nf = mode in names\n"
    )
    assert len(compared_roundings(made)) == 3
    classical = ROOT / "tcsmt" / "identification" / "units" / "classical.py"
    for path in (ROOT / "tcsmt").rglob("*.py"):
        if path != classical and "papers" not in path.parts:
            assert not compared_roundings(path), (path, compared_roundings(path))


def locale_files(path: Path) -> list[str]:
    """Calls that read or write text in whatever encoding the user's locale has."""
    found = []
    for node in ast.walk(tree(path)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        binary = any(isinstance(one, ast.Constant) and "b" in str(one.value) for one in node.args[1:2])
        named = any(keyword.arg == "encoding" for keyword in node.keywords)
        opens = name in ("read_text", "write_text") or ast.unparse(node.func) == "open"
        if opens and not binary and not named:
            found.append(f"{path}:{node.lineno}")
    return found


def test_files_are_utf_8_in_every_locale(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text('open(x)\nopen(x, "rb")\npath.read_text()\npath.write_text(y, encoding="utf-8")\n')
    assert locale_files(planted) == [f"{planted}:1", f"{planted}:3"]
    for path in [*(ROOT / "tcsmt").rglob("*.py"), *(ROOT / "properties").rglob("*.py")]:
        assert locale_files(path) == []


def test_files_that_the_check_names_are_there() -> None:
    """A test that moved would be missed where the check names it, and only there."""
    for script in ("run", "processors.py"):
        named = re.findall(r"tests/[\w/]+\.py", (ROOT / ".ci" / script).read_text(encoding="utf-8"))
        assert named and not [file for file in named if not (ROOT / file).is_file()]
