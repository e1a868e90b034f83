"""The checker of refutations: what is damaged is refused, and what has a solution has no refutation."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcsmt.prove.certificates import lrat
from tcsmt.prove.certificates.derivation import InvalidProof
from tcsmt.prove.certificates.lrat import check_refutation
from tcsmt.support.errors import TooLarge

#: Every clause of two variables, and one of a third.
SQUARE = [(1, 2), (-1, 2), (1, -2), (-1, -2), (3, 1)]
PROOF = ["6 2 0 1 2 0", "7 0 6 3 4 0"]


def holds(clauses: Sequence[tuple[int, ...]], lines: Sequence[str]) -> bool:
    try:
        check_refutation(clauses, lines)
    except InvalidProof:
        return False
    return True


def test_valid_refutations() -> None:
    assert holds(SQUARE, PROOF)
    assert holds(SQUARE, ["6 1 0 1 3 0", "7 -1 0 2 4 0", "8 0 6 7 0"])
    assert holds([(1,), (-1,)], ["3 0 1 2 0"])
    assert holds([()], ["2 0 1 0"])
    assert holds(SQUARE, [PROOF[0], "6 d 1 2 0", *PROOF[1:]])
    assert holds(SQUARE, ["10 2 0 1 2 0", "12 0 10 3 4 0"])  # gaps
    assert holds(SQUARE, [*PROOF, "nothing is read after the empty clause"])
    assert holds(SQUARE, ["6 2 1 0 1 0", "7 2 0 6 2 0", "8 0 7 3 4 0"])  # a clause that is there
    assert holds(SQUARE, ["6 1 2 -2 0 1 0", *("7 2 0 1 2 0", "8 0 7 3 4 0")])  # and one that says nothing


DAMAGED = {
    "a hint is missing": ["6 2 0 1 0", PROOF[1]],
    "the last hint is missing": [PROOF[0], "7 0 6 3 0"],
    "no hints": ["6 2 0 0", PROOF[1]],
    "not unit in this order": [PROOF[0], "7 0 3 4 6 0"],
    "a clause with a wrong sign": ["6 -2 0 1 2 0", PROOF[1]],
    "a literal is changed": ["6 3 0 1 2 0", PROOF[1]],
    "a literal is dropped": ["6 0 1 2 0"],
    "a hint that is true already": ["6 2 0 1 1 2 0", PROOF[1]],
    "a hint that does not exist": ["6 2 0 1 9 0", PROOF[1]],
    "a hint to itself": ["6 2 0 6 0", PROOF[1]],
    "a hint to a later line": ["6 2 0 7 0", "7 2 0 1 2 0", "8 0 6 3 4 0"],
    "hint 0": ["6 2 0 0 1 2 0", PROOF[1]],
    "a negative hint": ["6 2 0 -1 2 0", PROOF[1]],
    "a hint only negative": ["6 2 0 -1 0", PROOF[1]],
    "an id again": [PROOF[0], "6 0 6 3 4 0"],
    "an id of the formula": ["1 2 0 1 2 0", "7 0 1 3 4 0"],
    "an id below those before": ["8 2 0 1 2 0", "7 0 8 3 4 0"],
    "a negative id": ["-6 2 0 1 2 0", "7 0 -6 3 4 0"],
    "no empty clause": PROOF[:1],
    "nothing": [],
    "only deletions": ["6 d 1 0"],
    "a blank line": [PROOF[0], "", PROOF[1]],
    "no end": ["6 2 0 1 2", PROOF[1]],
    "no end of the clause": ["6 2 1 2 0", PROOF[1]],
    "only an id": ["6"],
    "an id and an end": ["6 0"],
    "words": ["6 two 0 1 2 0", PROOF[1]],
    "a fraction": ["6 2.0 0 1 2 0", PROOF[1]],
    "binary": ["a\x00\x7f", PROOF[1]],
    "the empty clause without reason": ["6 0 0"],
    "a line twice": [PROOF[0], PROOF[0], PROOF[1]],
    "a new variable that is unit by nothing": ["6 9 0 1 2 0", "7 0 6 0"],
}


@pytest.mark.parametrize("lines", DAMAGED.values(), ids=DAMAGED)
def test_damaged_refutations(lines: list[str]) -> None:
    with pytest.raises(InvalidProof):
        check_refutation(SQUARE, lines)


def test_numbers_of_any_length() -> None:
    assert not holds(SQUARE, ["6 " + "9" * 10_000 + " 0 1 2 0", PROOF[1]])


@pytest.mark.parametrize("dropped", range(4))
def test_another_formula(dropped: int) -> None:
    """Without one of the clauses there is a solution; so with one literal changed."""
    assert not holds(SQUARE[:dropped] + SQUARE[dropped + 1 :], PROOF)
    for place in range(2):
        clause = list(SQUARE[dropped])
        clause[place] = 4
        assert not holds([*SQUARE[:dropped], tuple(clause), *SQUARE[dropped + 1 :]], PROOF)


# --- attacks -------------------------------------------------------------------------------------------


def test_a_clause_does_not_follow_from_its_opposite() -> None:
    """A literal of the new clause is false, and its negation is not."""
    assert not holds([(-1,), (2, 3)], ["3 1 0 1 0", "4 0 1 3 0"])
    assert not holds([(-1, 2), (-2, 3)], ["3 1 0 1 2 0"])
    with pytest.raises(InvalidProof, match="line 3 of the refutation: "):
        check_refutation([(-1,), (2, 3)], ["3 1 0 1 0", "4 0 1 3 0"])


def test_lines_that_ask_for_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short line may name a long clause any number of times."""
    clauses = [tuple(range(1, 50)), *((-n,) for n in range(1, 50))]
    hints = " ".join(map(str, [*range(2, 51), 1]))
    check_refutation(clauses, [f"51 0 {hints} 0"])
    monkeypatch.setattr(lrat, "_MOST", 97)
    with pytest.raises(TooLarge, match="more than 97 literals"):
        check_refutation(clauses, [f"51 0 {hints} 0"])


def test_many_hints() -> None:
    """Of many hints, all but the last are not enough."""
    clauses = [tuple(range(1, 30)), *((-bit,) for bit in range(1, 30))]
    hints = [*range(2, 31), 1]
    assert holds(clauses, [f"31 0 {' '.join(map(str, hints))} 0"])
    for left_out in (1, 2, 15, 30):
        fewer = " ".join(str(hint) for hint in hints if hint != left_out)
        assert not holds(clauses, [f"31 0 {fewer} 0"])


def satisfiable(clauses: Sequence[tuple[int, ...]]) -> bool:
    found = sorted({abs(bit) for clause in clauses for bit in clause})
    for values in itertools.product((False, True), repeat=len(found)):
        true = {v if value else -v for v, value in zip(found, values, strict=True)}
        if all(true.intersection(clause) for clause in clauses):
            return True
    return False


def refutation(rng: random.Random, clauses: list[tuple[int, ...]]) -> list[str]:
    """Resolvents as long as there are new ones; of a formula that has a solution, what there is of them."""
    known = {number: frozenset(clause) for number, clause in enumerate(clauses, 1)}
    lines = []
    for _ in range(60):
        one, two = (rng.choice(list(known)) for _ in range(2))
        pivots = [bit for bit in known[one] if -bit in known[two]]
        if not pivots:
            continue
        bit = pivots[0]
        clause = (known[one] - {bit}) | (known[two] - {-bit})
        if any(-other in clause for other in clause) or clause in known.values():
            continue
        number = max(known) + 1
        known[number] = clause
        lines.append(" ".join(map(str, (number, *sorted(clause), 0, one, two, 0))))
        if not clause:
            break
    return lines


def damaged(rng: random.Random, lines: list[str], size: int) -> list[str]:
    """A few changes, most of them small; as a rule some line claims the empty clause."""
    lines = list(lines)
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(7)
        if not lines or kind == 0:
            hints = " ".join(str(rng.randint(1, size + len(lines))) for _ in range(rng.randint(0, 5)))
            lines.append(f"{size + len(lines) + 1} 0 {hints} 0")
            continue
        place = rng.randrange(len(lines))
        words = lines[place].split() or ["0"]
        at = rng.randrange(len(words))
        if kind == 1:
            words[at] = words[at][1:] or "0" if words[at][0] == "-" else f"-{words[at]}"
        elif kind == 2:
            words[at] = str(rng.randint(-5, size + 5))
        elif kind == 3:
            del words[at]
        elif kind == 4:
            words.insert(at, rng.choice(words))
        elif kind == 5:
            other = rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
            continue
        else:
            del lines[place]
            continue
        lines[place] = " ".join(words)
    return lines


def attack(rng: random.Random, counted: Counter[str]) -> None:
    """Of a small formula: what is accepted has no solution."""
    variables = rng.randint(2, 5)
    clauses = [
        tuple(rng.choice((1, -1)) * rng.randint(1, variables) for _ in range(rng.randint(1, 3)))
        for _ in range(rng.randint(3, 5 * variables))
    ]
    has = satisfiable(clauses)
    lines = refutation(rng, clauses)
    for _ in range(4):
        counted["of a satisfiable formula" if has else "of an unsatisfiable one"] += 1
        if holds(clauses, lines):
            counted["accepted"] += 1
            assert not has, (clauses, lines)
        lines = damaged(rng, lines, len(clauses))


@pytest.mark.slow
def test_no_refutation_of_what_has_a_solution() -> None:
    counted: Counter[str] = Counter()
    for seed in range(2500):
        attack(random.Random(seed), counted)
    assert counted["accepted"] > 500, counted
    assert counted["of a satisfiable formula"] > 1500, counted


@pytest.mark.long
@given(st.randoms(use_true_random=False))
@settings(max_examples=20000, deadline=None)
def test_no_refutation_of_what_has_a_solution_at_length(rng: random.Random) -> None:
    attack(rng, Counter())
