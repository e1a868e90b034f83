"""Identification: the evaluator against the simulator, and searches on boxes of every kind."""

import json
import re
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from tcsmt.arithmetic.formats import format_named
from tcsmt.catalogue import row_named
from tcsmt.cli import main
from tcsmt.cli.identified import as_text, nearest
from tcsmt.data.row_files import read_rows
from tcsmt.identification import boxes
from tcsmt.identification.boxes import BoxFailed, Command, model_box
from tcsmt.identification.classical import Tree
from tcsmt.identification.equal import canonical
from tcsmt.identification.evaluate import predictions
from tcsmt.identification.family import Family
from tcsmt.identification.outcomes import outcomes, signature
from tcsmt.identification.questions import Questions, ordinary_rows
from tcsmt.identification.search import Exchange, Identification, Transcript
from tcsmt.identification.vectors import mixed, ordinary
from tcsmt.models import FusedDotAdd, IeeeDotAdd, Operands
from tcsmt.prove.engine import compare_models, decide
from tcsmt.prove.solvers.run import Settings
from tcsmt.prove.solving import Solving
from tcsmt.simulator.rows import run_words
from tcsmt.statements.domain import Domain
from tcsmt.statements.question import difference
from tcsmt.statements.verdict import Distinguished
from tcsmt.support.errors import TcsmtError
from tcsmt.survey.neighbours import neighbours
from tests.support.processes import LINE, children, runs, start, until

VOLTA = row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model


#: For searches that need no proof.
QUICK = Settings(timeout=0.5)


def family_like(model):
    return Family(model.a_format, model.b_format, model.c_format, model.d_format, model.k)


def random_row(family, random):
    number = int(random.integers(len(family.structures)))
    first = family.first(number)
    row = first[[int(random.integers(len(first)))]]
    whole = family.expanded(family.with_last_rounding(row))
    return whole[int(random.integers(len(whole)))]


def simulated(family, model, questions):
    words = run_words(model, Operands(questions.a, questions.b, questions.c)).astype(np.uint64)
    nan = family.d_format.nan_word
    return np.array([nan if family.d_format.is_nan(int(w)) else w for w in words], np.uint64)


def rows_with_every_value(family, random):
    """Hypotheses, such that each structure and each value of each column is in one of them."""
    sizes = [len(family.structures), len(family.bits), len(family.alignments), 2, len(family.roundings)]
    sizes += [len(family.kept), len(family.zero_exponents), 2, len(family.overflows), 2, 2]
    missing = {(column, value) for column, size in enumerate(sizes) for value in range(size)}
    rows = []
    while missing:
        row = random_row(family, random)
        new = missing & set(enumerate(map(int, row)))
        if new:
            rows.append(row)
            missing -= new
    return np.array(rows)


def test_a_family_at_a_rows_parameters_is_the_row():
    """A unit's own graph and the family's at its constants: every a and every c, NaNs and infinities too."""
    family = Family(*map(format_named, ("e2m1", "e2m1", "e5m2", "e5m2")), 1)
    rows = rows_with_every_value(family, np.random.default_rng(3))
    # b: a zero, 1.5 and a negative subnormal number
    a, b, c = (x.reshape(-1) for x in np.meshgrid(range(16), (0, 3, 9), range(256)))
    questions = Questions(*(x.astype(np.uint64) for x in (a[:, None], b[:, None], c)))
    for row in rows:
        model = family.model(row)
        assert (predictions(family, row[None], questions)[0] == simulated(family, model, questions)).all(), (
            model
        )


@pytest.mark.parametrize(
    "name",
    [
        "volta/mma.m8n8k4.f32.f16.f16.f32@valpey",
        "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
        "turing/mma.m16n8k8.f16.f16.f16.f16",
        "hopper/mma.m16n8k32.f32.e4m3.e5m2.f32",
    ],
)
def test_a_family_at_a_catalogue_rows_parameters_is_the_row(name):
    model = row_named(name).model
    family = family_like(model)
    row = family.row(model)
    assert row is not None
    assert family.model(row).as_json() | {"nan": None} == model.as_json() | {"nan": None}
    questions = mixed(family, np.random.default_rng(5), 1500)
    assert (predictions(family, row[None], questions)[0] == simulated(family, model, questions)).all()


def test_rows_and_models_correspond():
    random = np.random.default_rng(5)
    for formats, k in (("f16 f16 f32 f32", 4), ("e4m3 e5m2 f32 f32", 8), ("e2m1 e3m2 f16 f16", 4)):
        family = Family(*map(format_named, formats.split()), k)
        for _ in range(10):
            row = random_row(family, random)
            assert (family.row(family.model(row)) == row).all()


@pytest.mark.parametrize(
    ("formats", "k"),
    [
        ("e2m1 e3m2 f16 f16", 4),
        pytest.param("f16 f16 f32 f32", 4, marks=pytest.mark.long),
        pytest.param("e4m3 e4m3 f16 f16", 8, marks=pytest.mark.long),
        pytest.param("e2m1 e3m2 f16 f16", 8, marks=pytest.mark.long),
        pytest.param("f16 f16 f16 f32", 4, marks=pytest.mark.long),
    ],
)
def test_first_answers_never_exclude_the_truth(formats, k):
    family = Family(*map(format_named, formats.split()), k)
    random = np.random.default_rng(6)
    questions = Questions.joined([ordinary(family, random, 8, lanes) for lanes in ((0,), ())])
    assert ordinary_rows(family, questions).all()
    for _ in range(5):
        row = random_row(family, random)
        bare = row.copy()
        bare[6:11] = 0
        answers = predictions(family, row[None], questions)[0]
        for place in range(len(questions)):
            for rounded in (False, True):
                found = outcomes(family, bare[None], questions[[place]], rounded=rounded)
                assert found.fitting(int(answers[place])).all()
            if found.certain(int(answers[place]))[0]:
                others = family.expanded(bare[None])
                others = others[random.permutation(len(others))[:8]]
                assert (predictions(family, others, questions[[place]])[:, 0] == answers[place]).all()


@pytest.mark.long
def test_structures_of_one_signature_answer_alike():
    """What lets the opening keep one table for several structures."""
    family = Family(*map(format_named, ("f16", "f16", "f32", "f32")), 8)
    random = np.random.default_rng(8)
    merged = 0
    for place in range(3):
        question, seen = ordinary(family, random, 4, (0,) if place % 2 else ())[[0]], {}
        for number, one in enumerate(family.structures):
            seen.setdefault(signature(one, question), []).append(number)
        merged += len(seen) < len(family.structures)
        for numbers in seen.values():
            first = family.first(numbers[-1])
            rows = first[random.permutation(len(first))[:20]]
            words = []
            for number in numbers:
                rows[:, 0] = number
                least = min(len(family.carries(family.structures[n])) for n in numbers)
                words.append(predictions(family, rows[rows[:, 3] < least], question))
            assert all((one == words[0]).all() for one in words)
    assert merged >= 2


def test_count_is_the_number_of_rows():
    family = Family(*map(format_named, ("e2m1", "e2m1", "f16", "f16")), 2)
    total = 0
    for number, _ in enumerate(family.structures):
        first = family.first(number)
        by_rounding = [
            len(family.expanded(family.with_last_rounding(first[first[:, 4] == r][:1]))) for r in range(10)
        ]
        total += sum(int((first[:, 4] == r).sum()) * by_rounding[r] for r in range(10))
    assert total == family.count


def test_structures_differ_in_their_blocks():
    family = family_like(VOLTA)
    keys = {(s.blocks, s.products, s.order) for s in family.structures}
    assert len(keys) == len(family.structures)


@pytest.mark.parametrize(
    "formats",
    [
        "e2m1 e2m1 f16 f16",
        pytest.param("e4m3 e4m3 f16 f16", marks=pytest.mark.long),
        pytest.param("f16 f16 f32 f32", marks=pytest.mark.long),
    ],
)
def test_equal_by_range_is_equal(formats):
    """No question of a large pool tells a hypothesis from the one that stands for it."""
    family = Family(*map(format_named, formats.split()), 2)
    random = np.random.default_rng(7)
    rows = np.array([random_row(family, random) for _ in range(600)])
    changed = canonical(family, rows)
    differ = (rows != changed).any(axis=1)
    assert differ.any()
    questions = mixed(family, random, 600)
    one, other = (predictions(family, t[differ], questions) for t in (rows, changed))
    assert (one == other).all()


def test_equal_by_range_is_proved_by_a_solver():
    family = Family(*map(format_named, ("e2m1", "e2m1", "f32", "f32")), 1)
    base = {
        "a_format": "e2m1", "b_format": "e2m1", "c_format": "f32", "d_format": "f32", "k": 1, "n_fma": 1,
        "fraction_bits": 6, "zero_exponent": -140, "rounding": "RTZ",
    }  # fmt: skip
    one = FusedDotAdd(**base)
    for change in ({"zero_exponent": -130}, {"overflow": "saturate"}):
        other = replace(one, **change)
        pair = np.array([family.row(one), family.row(other)])
        assert (canonical(family, pair)[0] == canonical(family, pair)[1]).all()
        question = difference("same?", ("one", one), ("other", other), Domain(finite=False))
        verdict = decide(question, Solving(Settings(timeout=60))).verdict
        assert not isinstance(verdict, Distinguished)
        assert verdict.__class__.__name__ == "Equivalent"


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    """A search of Volta's unit from beginning to end: its family, what was found, its transcript."""
    family, path = family_like(VOLTA), tmp_path_factory.mktemp("volta") / "t.jsonl"
    found = Identification(family, model_box(VOLTA), transcript=Transcript(family, path)).run()
    return family, found, path.read_text()


def test_volta_is_identified(identified):
    family, found, _ = identified
    assert found.verdict == "identified"
    assert len(found.exchanges) <= 40
    assert (found.rows == family.row(VOLTA)).all(axis=1).any()
    assert found.model is not None
    # what remains differs only where it cannot matter
    assert len(np.unique(canonical(family, found.rows), axis=0)) == 1


@pytest.mark.long
def test_a_changed_nan_is_read():
    changed = replace(VOLTA, nan=0x7FC00000)
    found = Identification(family_like(VOLTA), model_box(changed)).run()
    assert found.verdict == "identified"
    asked_nan = any(VOLTA.d_format.is_nan(e.d) for e in found.exchanges)
    assert found.model.nan == (0x7FC00000 if asked_nan else None)


@pytest.mark.long
def test_outside_the_family_is_refuted():
    tree = IeeeDotAdd(
        a_format="f16", b_format="f16", c_format="f32", d_format="f32", k=4, sum_format="f32",
        method="pairwise", n_fma=4, product_format="f32", flush=True,
    )  # fmt: skip
    found = Identification(family_like(VOLTA), model_box(tree)).run()
    assert found.verdict == "refuted"
    assert found.model is None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_noise_gives_no_wrong_model(seed):
    """One flipped bit in a hundred answers, and in ten of them."""
    family = family_like(VOLTA)
    random = np.random.default_rng(seed)
    truth = family.row(VOLTA)
    honest = model_box(VOLTA)
    flipped = 0

    def noisy(a, b, c):
        nonlocal flipped
        word = honest(a, b, c)
        flips = random.random() < (0.01 if seed else 0.1)
        flipped += flips
        return word ^ (1 << int(random.integers(32))) if flips else word

    found = Identification(family, noisy, seed=seed + 1, settings=QUICK).run()
    right = found.model is not None and (found.rows == truth).all(axis=1).any()
    assert found.verdict in ("refuted", "inconsistent") if flipped else right, flipped


@pytest.mark.long
def test_a_flipped_answer_to_the_last_deciding_question_is_found():
    family = family_like(VOLTA)
    honest = model_box(VOLTA)
    for flipped in (1, 7, 10):
        count = -1

        def box(a, b, c, flipped=flipped):
            nonlocal count
            count += 1
            return honest(a, b, c) ^ (count == flipped)

        found = Identification(family, box, settings=QUICK).run()
        right = found.model is not None and (found.rows == family.row(VOLTA)).all(axis=1).any()
        assert found.verdict in ("refuted", "inconsistent") or right


@pytest.mark.long
def test_budget(tmp_path):
    found = Identification(family_like(VOLTA), model_box(VOLTA), budget=8).run()
    assert found.verdict == "open"
    assert len(found.exchanges) == 8


def test_transcript_resumes_and_replays(tmp_path):
    """A search that was stopped goes on as if it had not been; what was answered is not asked again."""
    unit = FusedDotAdd(
        a_format="e2m1",
        b_format="e2m1",
        c_format="f16",
        d_format="f16",
        k=1,
        n_fma=1,
        fraction_bits=6,
        zero_exponent=None,
        rounding="RTZ",
    )
    family, box, path = family_like(unit), model_box(unit), tmp_path / "t.jsonl"
    whole = Identification(family, box, budget=6, transcript=Transcript(family, path)).run()
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == len(whole.exchanges) == 6
    path.write_text("".join(lines[:3]) + '{"a": ["0x')  # cut off while it was written
    asked = []

    def counting(*question):
        asked.append(question)
        return box(*question)

    found = Identification(family, counting, budget=5, transcript=Transcript(family, path)).run()
    assert found.verdict == "open"
    assert found.exchanges == whole.exchanges[:5]
    assert len(asked) == 2
    assert path.read_text() == "".join(lines[:5])

    def dead(*question):
        raise AssertionError("asked")

    again = Identification(family, dead, budget=5, transcript=Transcript(family, path)).run()
    assert again.exchanges == found.exchanges
    with pytest.raises(TcsmtError, match="another question"):
        Identification(family, dead, seed=2, transcript=Transcript(family, path)).run()


def test_a_transcript_is_a_file_of_rows(tmp_path):
    path = tmp_path / "t.jsonl"
    transcript = Transcript(family_like(VOLTA), path)
    asked = [
        Exchange((0x3C00, 0, 0, 1), (0x3C00, 0, 2, 0), 3, 0x3F800000, "why"),
        Exchange((0,) * 4, (0,) * 4, 0, 0, ""),
    ]
    for one in asked:
        transcript.add(one)
    rows = read_rows(path, VOLTA)
    assert rows.a.tolist() == [list(one.a) for one in asked]
    assert rows.b.tolist() == [list(one.b) for one in asked]
    assert rows.c.tolist() == [one.c for one in asked]


def test_rows_one_column_apart():
    family = family_like(VOLTA)
    row = family.row(VOLTA)
    near = family.one_column_apart(row)
    assert ((near != row).sum(axis=1) == 1).all()
    for one in near:
        assert isinstance(family.model(one), FusedDotAdd)


def test_a_neighbour_in_the_family_is_one_column_apart():
    """A model that differs in one parameter is the same hypothesis or one column apart, or none of them."""
    family = family_like(VOLTA)
    row = family.row(VOLTA)
    near = {tuple(one) for one in family.one_column_apart(row).tolist()}
    rows = [family.row(one.model) for one in neighbours(VOLTA)]
    inside = {tuple(one.tolist()) for one in rows if one is not None} - {tuple(row.tolist())}
    assert inside < near
    assert len(inside) > 50


SCRIPT = """
import json, sys
count = 0
for line in sys.stdin:
    count += 1
    {body}
    print(json.dumps({{"d": "0x00000000"}}), flush=True)
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit(3)", r"it died \(exit code 3\) \(2 tries\)"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
        ("print('hello', flush=True); continue", "'hello' is no"),
        ('print(\'{"d": "1ffffffff"}\', flush=True); continue', "a word of f32 has 32 bits"),
    ],
)
def test_command_that_fails(tmp_path, body, message):
    script = tmp_path / "box.py"
    script.write_text(SCRIPT.format(body=body))
    family = family_like(VOLTA)
    box = Command(
        f"{sys.executable} {script}", family.formats, timeout=0.5 if "time" in body else 20, tries=2
    )
    with pytest.raises(BoxFailed, match=message):
        box([0] * 4, [0] * 4, 0)
    box.close()


def test_command_is_started_again(tmp_path):
    script = tmp_path / "box.py"
    script.write_text(SCRIPT.format(body="sys.exit(1) if count > 2 else None"))
    box = Command(f"{sys.executable} {script}", family_like(VOLTA).formats)
    assert [box([0] * 4, [0] * 4, 0) for _ in range(5)] == [0] * 5
    box.close()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--box", "volta", "--data", "x"], "give one of"),
        (["--command", "cat"], "give --formats and --k, or --like"),
        (["--formats", "f16,f16,f32", "--k", "4", "--command", "cat"], "not four formats"),
        (["--formats", "f16,f16,f32,e4m3", "--k", "4", "--command", "cat"], "have infinities"),
        (["--formats", "f64,f64,f64,f64", "--k", "4", "--command", "cat"], "f64 is no signed format"),
        (["--like", "ampere", "--box", "volta"], "other formats, K"),
        (["--like", "volta", "--command", "/no/such/program"], "No such file"),
        (["--data", "/no/such/file.npz"], "/no/such/file"),
    ],
)
def test_bad_input(args, message):
    result = CliRunner().invoke(main, ["identify", *args])
    assert result.exit_code == 2
    assert message in result.output


@pytest.fixture(scope="module")
def plan():
    result = CliRunner().invoke(main, ["identify", "--like", "volta", "--plan", "set"])
    assert result.exit_code == 0
    return result.output


def test_plan_prints_questions(plan):
    plan = json.loads(plan)
    assert plan["told_apart"] > 0.9 * plan["hypotheses"]
    assert len(plan["rows"]) <= 60
    assert all(len(row["a"]) == 4 and row["c"].startswith("0x") for row in plan["rows"])


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "volta/mma.m8n8k4.f16.f16.f16.f16",
        "turing/mma.m16n8k8.f32.f16.f16.f32",
        "ampere/mma.m16n8k4.f32.tf32.tf32.f32",
        "hopper/mma.m16n8k16.f32.f16.f16.f32",
    ],
)
def test_catalogue_rows_are_never_lost(name):
    model = row_named(name).model
    family = family_like(model)
    found = Identification(family, model_box(model), settings=Settings(timeout=5)).run()
    assert found.verdict in ("identified", "open")
    assert len(found.exchanges) <= 60
    assert (found.rows == family.row(model)).all(axis=1).any()


def answers_of(model, plan):
    """What a probe program prints, where the unit is a model."""
    rows = []
    for row in plan["rows"]:
        words = [[int(w, 16) for w in row["a"]], [int(w, 16) for w in row["b"]], int(row["c"], 16)]
        rows.append({**row, "d": model.d_format.hex(model_box(model)(*words))})
    return {"model": plan["model"], "gpu": "none", "rows": rows}


@pytest.mark.long
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({}, 0, marks=pytest.mark.long),
        ({"fraction_bits": 24, "rounding": "RNE"}, None),
    ],
)
def test_from_a_plan_to_the_model(tmp_path, plan, changed, code):
    """plan → emitted vectors → answers of a unit → identify --answers."""
    run = CliRunner().invoke
    (tmp_path / "plan.json").write_text(plan)
    emitted = run(main, ["probe", "volta", "--vectors", str(tmp_path / "plan.json"), "--emit", "json"])
    assert emitted.exit_code == 0
    unit = replace(VOLTA, **changed)
    (tmp_path / "answers.json").write_text(json.dumps(answers_of(unit, json.loads(emitted.output))))
    result = run(main, ["identify", "--answers", str(tmp_path / "answers.json"), "--json"])
    found = json.loads(result.output)
    assert result.exit_code in (0, 3)
    assert unit.fraction_bits in found["values"]["fraction_bits"]
    if code is not None:
        assert result.exit_code == code
    else:  # it goes on with the box
        (tmp_path / "unit.toml").write_text(unit_file(changed))
        more = ["--box", str(tmp_path / "unit.toml"), "--json"]
        found = json.loads(run(main, ["identify", "--answers", str(tmp_path / "answers.json"), *more]).output)
        assert found["verdict"] == "identified"
        assert found["values"]["rounding"] == ["RNE"]
        assert found["values"]["fraction_bits"] == [24]


def unit_file(changed):
    values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in changed.items())
    return f'base = "volta/mma.m8n8k4.f32.f16.f16.f32"\n{values}'


@pytest.mark.long
def test_a_tree_names_every_candidate():
    result = CliRunner().invoke(main, ["identify", "--like", "volta", "--plan", "tree"])
    plan = json.loads(result.output)
    depths = []

    def leaves(node, depth=0):
        if "left" in node:
            depths.extend([depth] * len(node["left"]))
            return [node["left"]]
        return [leaf for child in node["answers"].values() for leaf in leaves(child, depth + 1)]

    found = leaves(plan["tree"])
    assert sum(map(len, found)) == plan["hypotheses"]
    assert len(found) == plan["told_apart"]
    assert max(depths) == plan["depth"]
    assert round(sum(depths) / len(depths), 2) == plan["expected"]
    # the unit itself goes down to a leaf that names it
    node = plan["tree"]
    while "left" not in node:
        words = [[int(w, 16) for w in node["a"]], [int(w, 16) for w in node["b"]], int(node["c"], 16)]
        node = node["answers"][VOLTA.d_format.hex(model_box(VOLTA)(*words))]
    assert any(name.startswith("volta/mma.m8n8k4.f32.f16.f16.f32") for name in node["left"])


@pytest.mark.parametrize("kind", ["tree", "precision", "rounding", "special", "features", "all"])
def test_classical_probes(kind):
    result = CliRunner().invoke(main, ["identify", "--box", "volta", "--probe", kind])
    assert result.exit_code == 0
    assert result.output.splitlines()[-1].endswith(" questions")
    expected = {
        "tree": "└─ c p0..p3",
        "features": "n_fma: 4",
        "precision": "product: 23",
        "rounding": "product: RZ",
    }
    for name, text in expected.items():
        if kind in (name, "all"):
            assert text in result.output


def test_a_tree_of_sums_is_drawn():
    tree = Tree((8, Tree((Tree((0, 1, 2, 3)), 4, 5))))
    assert tree.picture(8).splitlines() == [
        "one sum of 2", "├─ c", "└─ one sum of 3", "   ├─ p4 p5", "   └─ one sum of 4", "      └─ p0..p3",
    ]  # fmt: skip


#: One pair for each rule of tcsmt.identification.equal, at the widths in use.
SMALL = {"k": 4, "n_fma": 4, "fraction_bits": 25, "zero_exponent": -30, "rounding": "RNE"}
LAST = {**SMALL, "n_fma": 2, "c_position": "last"}
WIDE = {"rounding": "RTZ", "zero_exponent": -133}
RULES = {
    "enough carry bits": ("e2m1", "f16", SMALL, {"carry_bits": 2}),
    "no smaller exponent": ("f16", "f32", {**SMALL, "zero_exponent": -131}, {"zero_exponent": -126}),
    "no bit lost": ("e2m1", "f16", {**LAST, "k": 1, "n_fma": 1}, {"zero_exponent": -6}),
    "no bit lost, fields": ("e2m1", "f16", {**LAST, "k": 1, "n_fma": 1}, {"zero_exponent": None}),
    "exact products": ("e2m1", "f16", {**SMALL, "k": 1, "n_fma": 1}, {"c_position": "summed"}),
    "no overflow before c": ("e4m3", "f32", {**LAST, **WIDE}, {"overflow": "saturate"}),
    "no overflow": ("e4m3", "f32", {**SMALL, **WIDE}, {"overflow": "saturate"}),
    "no negative zero": ("e4m3", "f16", LAST, {"negative_zero": True}),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_rules_are_proved_by_the_engine(rule):
    a, d, base, change = RULES[rule]
    one = FusedDotAdd(a_format=a, b_format=a, c_format=d, d_format=d, **base)
    other = replace(one, **change)
    family = family_like(one)
    pair = canonical(family, np.array([family.row(one), family.row(other)]))
    assert (family.row(one) != family.row(other)).any()
    assert (pair[0] == pair[1]).all()
    found = compare_models(
        ("one", one), ("other", other), Domain(finite=False), Solving(Settings(timeout=30))
    )
    assert type(found.verdict).__name__ == "Equivalent"


def outside():
    """Units that differ from a member of the family in one thing that the family does not have."""
    return {
        "a's lanes turned round": lambda box: lambda a, b, c: box(a[::-1], b, c),
        "a result that is negated": lambda box: lambda a, b, c: box(a, b, c) ^ 1 << 31,
        "last bit set": lambda box: lambda a, b, c: box(a, b, c) | 1,
        "c ignored where it is negative": lambda box: lambda a, b, c: box(a, b, 0 if c >> 31 else c),
        "a lane that is left out": lambda box: lambda a, b, c: box([*a[:-1], 0], b, c),
    }


@pytest.mark.parametrize(
    "kind",
    [k if k == "a result that is negated" else pytest.param(k, marks=pytest.mark.long) for k in outside()],
)
def test_perturbed_box_is_refuted(kind):
    found = Identification(family_like(VOLTA), outside()[kind](model_box(VOLTA)), settings=QUICK).run()
    assert found.verdict in ("refuted", "inconsistent")
    assert found.model is None
    near = nearest(family_like(VOLTA), found)
    assert near
    for one in near:
        assert one["predicted"] != one["answered"]
        assert one["explains"] < len(found.exchanges)
    assert "  not " in as_text(family_like(VOLTA), found)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "seeds"), [("volta", range(3)), ("ampere/mma.m16n8k4.f32.tf32.tf32.f32", range(1))]
)
def test_one_flipped_bit_gives_no_wrong_model(name, seeds):
    """One answer of a search has one bit flipped."""
    model = row_named(name).model
    family, honest = family_like(model), model_box(model)
    for seed in seeds:
        random = np.random.default_rng(seed)
        flipped, bit = int(random.integers(12)), int(random.integers(32))
        asked = -1

        def box(a, b, c, flipped=flipped, bit=bit):
            nonlocal asked
            asked += 1
            return honest(a, b, c) ^ (asked == flipped) << bit

        found = Identification(family, box, seed=seed + 1, settings=QUICK).run()
        right = found.model is not None and (found.rows == family.row(model)).all(axis=1).any()
        assert found.verdict in ("refuted", "inconsistent") or right


#: Answers as Volta does, the third question never.
HONEST = """
import json, sys, time
from tcsmt.catalogue import row_named
from tcsmt.identification.boxes import model_box
box = model_box(row_named("volta/mma.m8n8k4.f32.f16.f16.f32").model)
for number, line in enumerate(sys.stdin):
    time.sleep(60 if number == 2 else 0)
    q = json.loads(line)
    a, b = ([int(w, 16) for w in q[side]] for side in "ab")
    print(json.dumps({"d": hex(box(a, b, int(q["c"], 16)))}), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.long
def test_an_interrupt_keeps_the_transcript(tmp_path):
    script = tmp_path / "box.py"
    script.write_text(HONEST)
    transcript = tmp_path / "t.jsonl"
    command = ["identify", "--like", "volta", "--transcript", transcript, "--command"]
    with start(*command, f"{sys.executable} {script}") as process:
        until(lambda: transcript.exists() and len(transcript.read_text().splitlines()) >= 2, 60)
        (box,) = children(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, LINE)
    assert not runs(box)
    kept = transcript.read_text().splitlines()
    again = Transcript(family_like(VOLTA), transcript)
    found = Identification(family_like(VOLTA), model_box(VOLTA), budget=len(kept), transcript=again).run()
    assert [VOLTA.d_format.hex(e.d) for e in found.exchanges] == [json.loads(line)["d"] for line in kept]


def test_a_device_is_asked_by_a_program_for_every_question(monkeypatch):
    """The compiler and the GPU are stood in for: what is tested is the question that the program carries."""
    row = row_named("volta/mma.m8n8k4.f32.f16.f16.f32")
    asked = []

    def measured(row, source):
        vector = re.findall(r"^\{(0x[0-9a-f]+(?:, 0x[0-9a-f]+)*)\},$", source, re.MULTILINE)[-1]
        words = [int(word, 16) for word in vector.split(", ")]
        asked.append(words)
        d = model_box(row.model)(words[:4], words[4:8], words[8])
        return json.dumps({"rows": [{"d": hex(d)}]})

    monkeypatch.setattr(boxes, "compiler_of", lambda language: "nvcc")
    monkeypatch.setattr(boxes, "measure", measured)
    box = boxes.device_box(row)
    one = 0x3C00
    assert box([one, 0, 0, 0], [0x4000, 0, 0, 0], 0x3F800000) == 0x40400000
    assert asked == [[one, 0, 0, 0, 0x4000, 0, 0, 0, 0x3F800000]]
    monkeypatch.setattr(boxes, "measure", lambda row, source: "{}")
    with pytest.raises(BoxFailed, match="printed no answer"):
        box([one] * 4, [one] * 4, 0)


def test_a_device_without_a_compiler_or_a_program(monkeypatch):
    monkeypatch.setenv("TCSMT_NVCC", "/nowhere/nvcc")
    result = CliRunner().invoke(main, ["identify", "--device", "volta"])
    assert result.exit_code == 2
    assert "TCSMT_NVCC = '/nowhere/nvcc' is no program" in str(result.exception) + result.output
