"""Figures for the documentation's sentences, each read from the results that we hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tcsmt.matrix_units.catalogue import row_named, rows
from tcsmt.matrix_units.models import FusedDotAdd, GroupedDotAdd
from tcsmt.prove.certificates.files import record_of
from tcsmt.prove.certificates.parts import statement_files
from tests.support.paths import ROOT
from tests.support.results import result


def digits(value: float, places: int = 0) -> str:
    """As prose writes a number: a true minus, and commas in numbers of five digits or more."""
    text = f"{value:,.{places}f}" if abs(value) >= 10_000 else f"{value:.{places}f}"
    return text.replace("-", "−")


def seconds(*values: float) -> tuple[str, ...]:
    return tuple(f"{value:.2f}" if value < 10 else f"{value:.0f}" for value in values)


def ends(values: Iterable[float], places: int = 0) -> tuple[str, str]:
    held = list(values)
    return digits(min(held), places), digits(max(held), places)


# -- hardware, and what others measured ---------------------------------------------------------------------


def asked(*devices: str) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = result("comparisons/hardware")["checked"]
    assert not any(run["mismatches"] for run in runs)
    return [run for run in runs if any(device in run["device"] for device in devices)]


def millions_asked(*devices: str) -> str:
    return digits(sum(run["rows"] for run in asked(*devices)) / 1e6)


def _shared(folder: str) -> Path:
    path = ROOT.parent / "shared" / folder
    if not path.is_dir():
        pytest.skip(f"there is no folder {path}")
    return path


def shared(folder: str) -> tuple[str, str]:
    """The data sets and rows of a folder beside the repository."""
    from tcsmt.simulate.measured.datasets import find_datasets

    sets = list(find_datasets([_shared(folder)]))
    return str(len(sets)), digits(sum(len(data.d) for data in sets))


def published_run() -> tuple[str, str, str]:
    """The rows of sf-tensor's run that were drawn again, and which sizes of groups one of them refutes."""
    paths = result("comparisons/tcgen05-run")["paths"]
    differ = [path["rows that differ from the accepted model"] for path in paths]
    assert all(counts["disputed"] == 0 for counts in differ)
    groups = {name: sum(counts.get(name, 0) for counts in differ) for name in differ[0] if "groups" in name}
    assert set(groups.values()) == {0, 1}
    one, two = (name.rpartition(" ")[2] for name, count in groups.items() if count)
    return f"{sum(path['rows'] for path in paths):,}", one, two


def predictions() -> tuple[str]:
    from tcsmt.simulate.measured.datasets import find_predictions

    return (str(len(list(find_predictions([_shared("units")])))),)


def identified_here() -> tuple[str, str, str]:
    """Of the H100 and the Xeon: no device of ours plays the two oracles, and the EPYC and QEMU are others."""
    others = ("_epyc", "_qemu", "_oracle")
    held = [
        record
        for record in result("identify/hardware")["identified"]
        if not any(other in record["transcript"] for other in others)
    ]
    found = [record["verdict"] for record in held]
    return str(found.count("identified")), str(len(found)), _word(found.count("open"))


def asked_here(floating: bool) -> tuple[str, ...]:
    """Of the instructions that are identified on the H100 and the Xeon: questions and seconds, from and to.

    floating: fused sums and dot products of at most 32 bits; otherwise integers and FP64.
    """
    held = [
        record
        for record in result("identify/hardware")["identified"]
        if not any(other in record["transcript"] for other in ("_epyc", "_qemu", "_oracle"))
        and record["verdict"] == "identified"
        and "tdpbf16ps" not in record["transcript"]
        and (record["model"]["kind"] == "integer-dot-add" or ".f64" in record["transcript"]) != floating
    ]
    seconds = [record["seconds"] for record in held]
    times = ends(seconds) if floating else (digits(-(-max(seconds) // 1)),)
    return (*ends(record["questions"] for record in held), *times)


def asked_questions(transcript: str) -> str:
    """How many questions identified what a transcript is of."""
    (record,) = [
        one
        for one in result("identify/hardware")["identified"]
        if one["transcript"] == f"hardware/identified/{transcript}.jsonl.xz"
    ]
    assert record["verdict"] == "identified"
    return str(record["questions"])


#: NVIDIA's architectures.
NVIDIA = ("volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell")


def identified(*architectures: str) -> dict[str, int]:
    """Of the catalogue's arithmetics, asked as boxes: how many have each verdict."""
    verdicts: dict[str, int] = {"all": 0}
    for record in result("identify/catalogue")["rows"]:
        if not architectures or record["model"].split("/")[0] in architectures:
            verdicts["all"] += 1
            verdicts[record["verdict"]] = verdicts.get(record["verdict"], 0) + 1
    return verdicts


def questions() -> tuple[str, ...]:
    """Of the boxes that are identified: the fewest and most questions, and their mean."""
    held = [
        one["questions"] for one in result("identify/catalogue")["rows"] if one["verdict"] == "identified"
    ]
    return (*ends(held), digits(sum(held) / len(held)))


def floors() -> tuple[str, ...]:
    """The lower bounds of answers that identifying a box needs."""
    held = [float(one["floor"]) for one in result("identify/catalogue")["rows"]]
    return f"{min(held):g}", f"{max(held):g}"


def atlas_pairs() -> tuple[str, ...]:
    """Pairs of different models in the atlas: all, proved equal, with a witness.

    A class has models that are proved equal; each stands there with every name of its graph.
    """
    equal = different = 0
    for group in result("comparisons/atlas")["groups"]:
        sizes = [len(models) for models in group["classes"]]
        equal += sum(size * (size - 1) // 2 for size in sizes)
        for pair in group["pairs"]:
            assert pair["record"]["verdict"] == "distinguished"
            left, right = pair["classes"]
            different += sizes[left] * sizes[right]
    return digits(equal + different), digits(equal), digits(different)


def recorded(*datasets: str) -> tuple[str, ...]:
    """How many recorded rows each search read, and how many hypotheses it left."""
    held = [result(f"identify/{name}") for name in datasets]
    assert all(
        len(one["values"][name]) == 1 for one in held for name in ("fraction_bits", "n_fma", "rounding")
    )
    (rows,) = {one["rows"] for one in held}
    return digits(rows), *(str(one["remaining"]) for one in held)


def certificates_kept() -> str:
    """The refutations in ``results/certificates``."""
    return digits(len(list((ROOT / "results" / "certificates").rglob("*.lrat*"))))


def certified_by_acl2() -> str:
    """The statements in ``results/certificates``, if ACL2 has certified each; or how many it has."""
    titles = {
        record_of(path)["statement"]["title"] for path in statement_files(ROOT / "results" / "certificates")
    }
    certified = {one["title"] for one in result("theorems/acl2")["theorems"] if one["certified"]}
    return digits(len(titles)) if titles <= certified else f"not all: {len(certified & titles)}"


def certified_from_nothing() -> tuple[str, ...]:
    """Minutes of the clock, of the statements and of the units; and ACL2's seconds."""
    tables = [result(f"theorems/{name}") for name in ("acl2", "acl2_specification")]
    seconds = [sum(one["processor_seconds"] for one in table["theorems"]) for table in tables]
    return (*(digits(table["minutes"]) for table in tables), *(f"{number:,.0f}" for number in seconds))


def whole_statements(solver: str) -> tuple[str, ...]:
    """Of a solver asked for whole statements: how many it proves, the longest of these in seconds of the
    processor, and how many it does not decide.
    """
    asked = [answer for one in result("benchmarks/statements")["statements"] for answer in one["answers"]]
    own = [answer for answer in asked if answer["solver"] == solver]
    decided = [answer for answer in own if answer["answer"] == "unsat"]
    longest = max(answer["processor_seconds"] for answer in decided)
    return str(len(decided)), f"{longest:g}", str(len(own) - len(decided))


def processor_seconds_of_undecided() -> str:
    """Of scripts that a solver has not decided: the median."""
    asked = [answer for one in result("benchmarks/statements")["statements"] for answer in one["answers"]]
    own = [answer["processor_seconds"] for answer in asked if answer["answer"] == "unknown"]
    return f"{median(own):.0f}"


def unseen_neighbours() -> tuple[str, ...]:
    """Of the units that differ from Volta's in one parameter: those that classical probes do not see."""
    (row,) = result("identify/classical")["rows"]
    return str(row["same_profile"]), str(row["other_units"])


def _word(number: int) -> str:
    return (
        "no",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    )[number]


SOLVERS = ("bitwuzla", "z3", "cvc5")

# -- solvers ------------------------------------------------------------------------------------------------


def query(text: str, solver: str = "bitwuzla") -> float:
    """The solver's own seconds."""
    (found,) = [one for one in result("benchmarks/queries")["queries"] if one["query"] == text]
    return float(found[solver]["seconds"])


def carry_bit_inputs(solver: str) -> tuple[str, ...]:
    return seconds(
        *(
            query(text, solver)
            for text in ("volta: 2 against 3", "ampere: 3 against 4", "hopper: 4 against 5")
        )
    )


def carry_bit_proofs(solver: str) -> tuple[str, str]:
    names = ("volta: 3 against 4", "ampere: 4 against 5", "hopper: 5 against 6")
    answers = [one for one in result("benchmarks/queries")["queries"] if one["query"] in names]
    assert all(one[solver]["answer"] == "equivalent" for one in answers)
    return ends([one[solver]["seconds"] for one in answers], 2)


def found_by_evaluation() -> tuple[str]:
    """An upper limit of the seconds that all three carry-bit queries take with the witness search."""
    records = [
        record["bitwuzla"]
        for record in result("papers/valpey/valpey")["table 4"]
        if record["property"] == "carry-bits" and record["bitwuzla"]["answer"] == "distinguished"
    ]
    assert len(records) == 3
    assert max(record["seconds"] for record in records) < 0.01
    return ("0.01",)


def published_seconds(text: str, solver: str) -> float:
    (record,) = [one for one in result("papers/valpey/valpey")["table 4"] if one["query"] == text]
    return float(record["published"][solver])


def table_4(solver: str) -> str:
    return digits(
        max(one[solver]["seconds"] for one in result("papers/valpey/valpey")["table 4"] if one["in_paper"]), 1
    )


def slower_than_published() -> tuple[str, str]:
    """The one row on which our Z3 takes longer than the published one."""
    (row,) = [
        one
        for one in result("papers/valpey/valpey")["table 4"]
        if one["published"]["z3 4.8.9"] is not None and one["z3"]["seconds"] > one["published"]["z3 4.8.9"]
    ]
    assert row["query"] == "Rounding of Accumulator"
    assert row["z3"]["questions"] == 10
    return digits(row["z3"]["seconds"], 1), digits(row["published"]["z3 4.8.9"], 2)


def theorems(part: str, text: str = "", verdict: str = "equivalent") -> list[dict[str, Any]]:
    held = [
        record
        for record in result("comparisons/theorems")
        if record["part"] == part and text in record["question"] and record["verdict"] == verdict
    ]
    assert held
    assert all(record["confirmed"] for record in held if verdict == "equivalent" and record["seconds"])
    return held


def half_of_the_lanes() -> tuple[str]:
    return (rounded_up(max(one["seconds"] for one in theorems("half of the lanes zero")), 1),)


def truncation() -> tuple[str, str]:
    return ends([one["seconds"] for one in theorems("truncation and rounding toward zero")], 1)


def converted_inputs() -> tuple[str, ...]:
    """Of FP8 through the FP16 unit, for both output formats: lemmas and seconds."""
    figures: tuple[str, ...] = ()
    for fmt in ("e5m2", "e4m3"):
        held = theorems("FP8 on the FP16 unit", fmt)
        assert len(held) == 2
        lemmas = dict.fromkeys(str(len(one["steps"])) for one in held)
        figures += (*lemmas, *(digits(one["seconds"]) for one in held))
    return figures


def published_third_carry_bit() -> tuple[str, str]:
    cvc5, z3 = (published_seconds("3 Carry Bits", solver) for solver in ("cvc5 1.0.2", "z3 4.8.9"))
    return digits(cvc5, 1), digits(z3)


def their_encoding() -> tuple[str, ...]:
    times = (as_published("published", "bitwuzla"), as_published("published", "z3"))
    answers = result("benchmarks/accuracy")["queries"]
    cvc5 = answers["ootomo-halfhalf worse than markidis, K = 4, exponents -15 to 14: published, cvc5"]
    assert cvc5["answer"] == "unknown"
    assert cvc5["seconds"] >= 300
    return *map(digits, times), "300", digits(as_published("compare", ""), 1)


def as_published(side: str, by: str) -> float:
    key = f"ootomo-halfhalf worse than markidis, K = 4, exponents -15 to 14: {side}"
    return float(result("benchmarks/accuracy")["queries"][f"{key}, {by}" if by else key]["seconds"])


# -- the simulator ------------------------------------------------------------------------------------------


def simulated(unit: str, rate: str = "tcsmt") -> str:
    """A rate of a unit: ``tcsmt`` of rows, ``gemm`` or ``gemm_by_integers`` of a matrix product."""
    (record,) = [one for one in result("benchmarks/simulator")["units"] if one["unit"] == unit]
    return digits(record[rate])


def without_products(architecture: str) -> tuple[str, str]:
    """How many times as fast rows are where products cost nothing, of the units of an architecture."""
    return ends(_gains(architecture, "rows", "rows_without_products"), 1)


def exact_sums_in_binary64() -> tuple[str, ...]:
    """How many times as many exact sums are made in binary64 as by integers: of products, and of rows."""
    units = [one for one in result("benchmarks/exact_sums")["units"] if one["form"] == "floats"]
    of_both = ([one[name] / one[f"{name}_by_integers"] for one in units] for name in ("gemm", "rows"))
    return tuple(end for ratios in of_both for end in ends(ratios, 1))


def _gains(architecture: str, before: str, after: str) -> list[float]:
    units = [one for one in result("benchmarks/forms")["units"] if one["unit"].startswith(architecture)]
    return [one[after] / one[before] for one in units]


def beside_mmasim(group: str, ratio: str = "ratio", run: str = "simulator") -> list[float]:
    """The ratios of a group of units that mmasim has, too. run: the file of results/benchmarks."""
    groups: dict[str, Callable[[str], bool]] = {
        "nvidia": lambda name: not name.startswith("cdna") and ".f64." not in name,
        "tf32": lambda name: ".tf32." in name,
        "cdna3": lambda name: name.startswith("cdna3/"),
        "ieee": lambda name: name.startswith(("cdna1/", "cdna2/")),
        "f64": lambda name: not name.startswith("cdna") and ".f64." in name,
    }
    held = [one for one in result(f"benchmarks/{run}")["units"] if one.get("ratio")]
    assert not any(one["differences"] for one in held)
    return [float(one[ratio]) for one in held if groups[group](one["unit"])]


#: The run on a processor with AVX-512.
_AVX512 = "simulator-avx512"


def with_avx512() -> tuple[str, ...]:
    """Of NVIDIA's units beside mmasim on AVX-512: how many; the ends and the median of numbers; how many are
    150 times as fast, or more, of numbers, and 80 times at mmasim's best batch, whose median is the last one.
    """
    numbers = beside_mmasim("nvidia", "ratio_numbers", _AVX512)
    best = beside_mmasim("nvidia", "ratio_small_batch", _AVX512)
    reaching = (
        str(sum(ratio >= least for ratio in column)) for column, least in ((numbers, 150), (best, 80))
    )
    return str(len(numbers)), *ends(numbers), digits(median(numbers)), *reaching, digits(median(best))


def products_with_avx512(units: Iterable[str]) -> tuple[str, ...]:
    """Of matrix products of units on AVX-512, in millions a second: as they are, and by integers; the ends of
    their quotients.
    """
    records = {one["unit"]: one for one in result(f"benchmarks/{_AVX512}")["units"]}
    pairs = [(records[unit]["gemm"], records[unit]["gemm_by_integers"]) for unit in units]
    rates = [digits(rate) for rates in zip(*pairs, strict=True) for rate in rates]
    return (*rates, *ends([as_is / integers for as_is, integers in pairs], 1))


def small_batches(group: str, places: int = 0) -> str:
    return digits(median(beside_mmasim(group, ratio="ratio_small_batch")), places)


def nvidia_beside_mmasim() -> tuple[str, ...]:
    """Of rows of normally distributed numbers, and of any exponents: the ends and the median."""
    of_numbers, any_exponents = beside_mmasim("nvidia", "ratio_numbers"), beside_mmasim("nvidia")
    figures = [figure for of in (of_numbers, any_exponents) for figure in (*ends(of), digits(median(of)))]
    return str(len(of_numbers)), *figures, small_batches("nvidia")


def reaching(least: float) -> tuple[str, str]:
    """How many of NVIDIA's units are so many times as fast as mmasim, of numbers and of any exponents."""
    columns = (beside_mmasim("nvidia", ratio) for ratio in ("ratio_numbers", "ratio"))
    of_numbers, any_exponents = (str(sum(ratio >= least for ratio in column)) for column in columns)
    return of_numbers, any_exponents


def group_beside_mmasim(group: str, places: int = 0) -> tuple[str, ...]:
    """The ends of numbers, those of any exponents, and the median of small batches."""
    columns = (beside_mmasim(group, ratio) for ratio in ("ratio_numbers", "ratio"))
    return (*(end for column in columns for end in ends(column, places)), small_batches(group, places))


def of_float_peak() -> tuple[str, str]:
    """Shares of the peak of multiply-adds, in products on floating-point instructions, in percent."""
    units = result("benchmarks/simulator")["units"]
    shares = [
        100 * one["of_float_peak"]
        for one in units
        if "gemm" in one and ".f64." not in one["unit"] and one["gemm"] > 1.5 * one["gemm_by_integers"]
    ]
    return ends(shares)


def large_products() -> tuple[str, ...]:
    """Millions of dot-adds a second with one thread, by size; memory beside the matrices; with two threads,
    how many times one.
    """
    runs = {(one["size"], one["threads"]): one for one in result("benchmarks/simulator")["large"]}
    one, two, largest = (runs[key] for key in ((4096, 1), (4096, 2), (8192, 1)))
    rates = [digits(run["dot_adds"] / run["elapsed"] / 1e6) for run in (one, largest)]
    return (*rates, digits(largest["MiB_beside"]), digits(one["elapsed"] / two["elapsed"], 2))


def peaks() -> tuple[str, str]:
    """Of integer operations and of multiply-adds, in thousand millions a second."""
    held = result("benchmarks/simulator")
    return digits(held["peak"] / 1000), digits(held["float_peak"] / 1000)


def rows_beside_mmasim() -> tuple[str]:
    (count,) = {one["rows"] for one in result("benchmarks/simulator")["units"] if one.get("ratio")}
    return (digits(count),)


def whole_gemm() -> tuple[str, ...]:
    held = result("benchmarks/simulator")["gemm"]
    return (*(str(held["size"]) for _ in range(3)), digits(held["seconds"], 2), digits(held["MiB"]))


def first_call() -> tuple[str, str]:
    held = result("benchmarks/simulator")["first_call_seconds"]
    return digits(held["compiled"], 2), digits(held["cached"], 2)


def kernels_size() -> tuple[str, ...]:
    return tuple(str(side) for side in result("benchmarks/gemm-kernels")["size"])


def kernels_kept() -> tuple[str, ...]:
    """The share of a chain's rate, in per cent: of an epilogue, of parts of K, at least and at most, and of
    promotion.
    """
    (_, *others), shares = result("benchmarks/gemm-kernels")["kernels"], dict[str, list[float]]()
    for one in others:
        kind = one["reduction"].partition(":")[0].replace("sliced", "split-k")
        shares.setdefault(kind, []).append(100 * one["ratio"])
    (chained,), (promoted,) = shares["chained"], shares["promote"]
    return digits(chained), *ends(shares["split-k"]), digits(promoted)


def torch_overhead(rows: int) -> tuple[str, str]:
    """The least and the largest ratio of a PyTorch program to its products, with errors of so many rows."""
    runs = result("benchmarks/emulation")["runs"]
    ratios = [run["ratio"] for run in runs if run["rows"] == rows]
    return digits(min(ratios), 2), digits(max(ratios), 2)


# -- the page ----------------------------------------------------------------------------------------------


def page_bytes() -> tuple[str, ...]:
    """kB of the first view, compressed; of the whole page the units, their functions and MB."""
    held = result("benchmarks/page")
    page = held["page"]
    first = held["bytes of the first view, compressed"]
    counts = (str(page["units"]), str(page["modules"]))
    return digits(first / 1000), *counts, digits(page["bytes"] / 1e6, 1)


def page_times() -> tuple[str, str, str]:
    """Seconds to the first result, in a new profile and again, and of a processor to write the page."""
    held = result("benchmarks/page")
    first = held["milliseconds to the first result"]
    seconds_to_build = held["seconds to build"]["processor"]
    return (
        digits(first["new profile"] / 1000, 2),
        digits(first["again"] / 1000, 2),
        digits(seconds_to_build, 1),
    )


def page_search() -> tuple[str, ...]:
    """Pairs for which it finds a difference, of how many, and until when; the median of inputs."""
    held = result("benchmarks/page")["search"]
    longest = digits(held["longest in milliseconds"] / 1000, 1)
    return str(held["found"]), str(held["pairs"]), longest, digits(held["median of inputs"])


def page_rates() -> tuple[str, ...]:
    """Inputs a second of the search, in thousands, of each unit that is measured."""
    return tuple(digits(rate / 1000) for rate in result("benchmarks/page")["inputs a second"].values())


# -- algorithms ---------------------------------------------------------------------------------------------


def bounds(algorithm: str = "", **wanted: Any) -> list[dict[str, Any]]:
    """The proved bounds of ``accuracy.json``, of an algorithm, of units and domains that begin so."""
    return [
        record
        for key, record in result("accuracy/findings").items()
        if key.startswith(f"bound of {algorithm}")
        and record["proved"] is not None
        and all(str(record[name]).startswith(str(value)) for name, value in wanted.items())
    ]


def bound(algorithm: str, unit: str, k: int, domain: str) -> dict[str, Any]:
    (record,) = [
        one for one in bounds(f"{algorithm}:", domain=domain) if (one["unit"], one["k"]) == (unit, k)
    ]
    return record


def excess(record: dict[str, Any]) -> float:
    """By how much a proved bound is above the error that was found."""
    return float(record["proved"]) / float(record["relative"]["relative"]) - 1


def tight_bounds() -> tuple[str, str, str]:
    held = bounds()
    return str(sum(excess(one) <= 0.05 for one in held)), str(len(held)), "5"


#: What one fused sum loses of FP16 products: the unit, and the instruction's K.
SINGLE = (("volta", 4), ("turing", 8), ("hopper", 16))
WIDE, FULL = "exponents -14 to 14", "exponents -15 to 14"


def losses() -> tuple[str, ...]:
    nvidia = ("volta", "turing", "ampere", "hopper", "blackwell")
    one_product = {
        domain: max(float(bound("single-f16", unit, 1, domain)["proved"]) for unit in nvidia)
        for domain in (WIDE, "exponents 0 to 0")
    }
    cdna3 = rounded_up(float(bound("single-f16", "cdna3", 1, WIDE)["proved"]), 2)
    sums = [bound("single-f16", unit, k, WIDE) for unit, k in SINGLE]
    assert max(map(excess, sums)) < 0.003
    first, second = (f"{most:g}" for most in one_product.values())
    return first, second, "0", cdna3, *(f"{float(one['proved']):g}" for one in sums), "0.3"


def worst(of: str, domain: str) -> float:
    """The largest difference of errors that a search found."""
    return max(
        record["worst"]["excess"]["2^-24 Σ|ab|"]
        for key, record in result("accuracy/findings").items()
        if key.startswith(of) and record["domain"].startswith(domain) and "worst" in record
    )


def largest_bound(algorithm: str) -> float:
    return max(float(one["proved"]) for one in bounds(f"{algorithm}:", domain=FULL) if one["k"] == 1)


#: The domain on which the units of all vendors have bounds.
SHARED = "exponents -7 to 0, a of 8 and b of 8 significand bits"


def bound_and_found(unit: str, k: int, algorithm: str = "single-f16") -> tuple[str, str]:
    """What a unit loses, in units of 2^-24·(|c|+Σ|a·b|): proved, and found."""
    record = bound(algorithm, unit, k, SHARED)
    return f"{float(record['proved']):g}", f"{float(record['relative']['relative']):.2f}"


def phases_lose() -> tuple[str, str, str]:
    """What all of Blackhole's fidelity phases lose, in units of 2^-24 and in per cent, and what one does."""
    every, first = (
        float(bound("single-f16", f"blackhole/mvmul.f32.f16.{name}", 16, SHARED)["proved"])
        for name in ("hifi4", "lofi")
    )
    return (
        digits(every, 0).replace(",", ""),
        rounded_up(every / 2**24 * 100, 2),
        rounded_up(first / 2**24 * 100, 1),
    )


def wrong_unit_loses() -> tuple[str, str]:
    """The error on Wormhole where a sum of −1 unit counts as another number: found, and proved."""
    record = bound("single-bf16", "wormhole/mvmul.f32.bf16.hifi4", 16, SHARED)
    found = float(record["relative"]["relative"]) / 2**24
    return digits(found), rounded_up(float(record["proved"]) / 2**24, 1)


def rounded_up(value: float, places: int) -> str:
    """A bound stays one where it is rounded."""
    shift = 10**places
    return digits(-(-value * shift // 1) / shift, places)


def fall(algorithm: str) -> str:
    """The largest fall that was found where a word grows, in units of the last place."""
    held = [
        one for key, one in result("accuracy/findings").items() if key.startswith(f"monotone {algorithm}:")
    ]
    return digits(max(one["worst"]["ulps"] for one in held if "worst" in one))


def wrong_sign() -> tuple[str]:
    sizes = [
        one["worst"]["size"] for key, one in result("accuracy/findings").items()
        if key.startswith("sign markidis:") and "worst" in one
    ]  # fmt: skip
    return (f"{max(sizes) / 1e9:.1f}·10^9",)


def kept_bits() -> tuple[str, ...]:
    """Of Markidis' split: for large exponents, and the mean over FP16's."""
    (split,) = [one for one in result("accuracy/splits")["splits"] if one["split"] == "2 x f16 RNE"]
    bits = [split["exponents"][str(exponent)]["kept_bits"] for exponent in range(-15, 15)]
    assert set(bits[14:]) == {22.75}
    return "22.75", f"{sum(bits) / len(bits):.2f}"


def conclusion(paper: str, section: str, pattern: str) -> tuple[str, ...]:
    """Figures of one conclusion of a reproduced paper."""
    texts = [
        one["ours"]
        for one in result(f"papers/{paper}/{paper}")["conclusions"]
        if section in one["section"] + one["published"]
    ]
    (found,) = [match for text in texts if (match := re.search(pattern, text))]
    return found.groups()


def variant(unit: str, change: str) -> float:
    (found,) = [
        one
        for one in result("accuracy/variants")["conclusions"]
        if (one["unit"], one["change"]) == (unit, change)
    ]
    return float(found["error_times"])


# -- sums of all vendors ------------------------------------------------------------------------------------


def shared_matrices(distribution: str) -> dict[str, dict[str, float]]:
    """Of each unit, at K = 4096: its mean error, that mean's standard error, and the relative residual."""
    held = result("accuracy/sweep-units")
    means: dict[str, dict[str, float]] = {}
    for record in held["records"]:
        if (record["distribution"], record["k"]) == (distribution, 4096):
            for name, unit in record["units"].items():
                if "deviation" in unit:
                    error = unit["deviation"] / (held["size"] ** 2 * held["seeds"]) ** 0.5
                    means[name] = {"mean": unit["mean"], "error": error, "residual": unit["residual"]}
    return means


RDNA = "v_wmma_f32_16x16x16_f16_w32"


def biases() -> tuple[str, ...]:
    held = shared_matrices("shared-positive")
    names = ("volta", "turing", "hopper, blackwell, rtx-blackwell", f"rdna3/{RDNA}", f"rdna4/{RDNA}")
    assert held["turing"] == held["ampere, ada"]
    cdna3 = held["cdna3"]
    return (
        *(digits(held[name]["mean"]) for name in names),
        digits(cdna3["mean"], 2),
        digits(cdna3["error"], 2),
    )


def unbiased() -> tuple[str, str]:
    held = shared_matrices("shared-positive")
    others = [
        one for name, one in held.items() if name.startswith(("cdna1", "cdna2", "x86/", "arm/", "riscv/"))
    ]
    assert len(others) >= 15
    largest = max(abs(one["mean"]) / one["error"] for one in others)
    return f"{-(-largest * 10 // 1) / 10:.1f}", rounded_up(max(one["error"] for one in others), 2)


def random_signs() -> tuple[str, ...]:
    held = shared_matrices("shared")
    three, four = held[f"rdna3/{RDNA}"], held[f"rdna4/{RDNA}"]
    others = [
        one["residual"]
        for name, one in held.items()
        if not name.startswith(("rdna3", "wormhole", "blackhole"))
    ]
    assert three["residual"] > max(others)
    times_ampere = three["residual"] / held["ampere, ada"]["residual"]
    residual = f"{three['residual'] * 1e5:.1f}", digits(times_ampere, 1)
    return (
        *residual,
        digits(three["mean"], 1),
        *(digits(x, 2) for x in (three["error"], four["mean"], four["error"])),
    )


def tenstorrent() -> tuple[str, ...]:
    held = shared_matrices("shared-positive")
    four, two, one = (held[f"blackhole/mvmul.f32.f16.{name}"] for name in ("hifi4", "hifi2", "lofi"))
    return digits(four["mean"]), digits(four["error"], 1), digits(two["mean"]), digits(one["mean"])


def standard_errors() -> tuple[str, str, str]:
    """The largest standard error of a mean: of NVIDIA's units, Tenstorrent's with all phases, and others."""
    errors: dict[str, list[float]] = {"nvidia": [], "tenstorrent": [], "others": []}
    for name, unit in shared_matrices("shared-positive").items():
        maker = "nvidia" if name.split(",")[0] in NVIDIA else "others"
        if name.startswith(("wormhole", "blackhole")):
            if not name.endswith("hifi4"):
                continue
            maker = "tenstorrent"
        errors[maker].append(unit["error"])
    nvidia, tenstorrent, others = (max(held) for held in errors.values())
    return rounded_up(nvidia, 1), rounded_up(tenstorrent, 1), rounded_up(others, 2)


# -- whole products -----------------------------------------------------------------------------------------


def fasi_tests() -> tuple[str]:
    tests = result("papers/fasi/fasi")["tests"]
    assert all(test["reproduces"] for test in tests)
    return (str(len(tests)),)


def mma_sim_conclusions() -> tuple[str, str]:
    agree = [one["agrees"] for one in result("papers/mma-sim/mma-sim")["conclusions"]]
    return str(agree.count(True)), str(len(agree))


def distinct_arithmetics() -> tuple[str, str]:
    held = result("comparisons/against-mmasim")
    assert {one["rows"] for one in held["units"]} == {held["rows"]} == {1_000_000}
    return str(len(held["units"])), str(len(held["units"]))


def exact_up_to(name: str) -> str:
    """The largest K that a claim's proof states."""
    (claim,) = [one for one in result("papers/claims")["claims"] if one["name"] == name]
    found = re.search(r"up to K = (\d+)", claim["why"])
    assert found
    return found[1]


def beyond() -> tuple[str, str, str]:
    (claim,) = [
        one for one in result("papers/claims")["claims"] if one["name"] == "gemmul8-fp8-error-free-hopper"
    ]
    found = re.search(r"K = (\d+): .* the result is (\d+), exactly (\d+)", claim["why"])
    assert found
    return found[1], found[2], found[3]


def contradicted(name: str) -> tuple[str, str]:
    (claim,) = [one for one in result("papers/claims")["claims"] if one["name"] == name]
    found = re.search(r"(\d+) of (\d+) measured rows contradict", claim["why"])
    assert found
    return found[1], found[2]


def zero_exponents(fmt: str) -> tuple[str, ...]:
    """Of FP16 products on Volta, Ampere and Hopper, with results in a format."""
    names = (
        f"volta/mma.m8n8k4.{fmt}.f16.f16.{fmt}",
        f"ampere/mma.m16n8k16.{fmt}.f16.f16.{fmt}",
        f"hopper/mma.m16n8k16.{fmt}.f16.f16.{fmt}",
    )
    models = [row_named(name).model for name in names]
    return tuple(
        digits(model.parameters.zero_exponent or 0) for model in models if isinstance(model, FusedDotAdd)
    )


def _fused(architectures: str, operands: str) -> list[FusedDotAdd]:
    """Models of accepted rows, of some architectures and with operands of a format."""
    accepted = [
        row.model for row in rows() if row.architecture in architectures.split() and row.status == "accepted"
    ]
    held = [model for model in accepted if isinstance(model, FusedDotAdd) and model.a_format.name == operands]
    assert held
    return held


def fraction_bits() -> tuple[str, ...]:
    """Of units of 16-bit operands, by generation; of FP8 through Ada's ``mma`` and Hopper's ``wgmma``."""
    generations = ("volta", "ampere ada", "hopper blackwell rtx-blackwell")
    fp16 = [{model.sum.fraction_bits for model in _fused(names, "f16")} for names in generations]
    fp8 = {model.sum.fraction_bits for model in _fused("ada", "e4m3")}
    wgmma = row_named("hopper/wgmma.m64nNk32.f32.e4m3.e4m3").model
    assert isinstance(wgmma, FusedDotAdd)
    assert fp8 == {wgmma.sum.fraction_bits}
    return tuple(digits(bits) for found in (*fp16, fp8) for bits in found)


def products_of_a_group() -> tuple[str, ...]:
    return tuple(
        digits(group) for group in {model.group for model in _fused("blackwell", "e2m1") if model.k == 64}
    )


def multiplier() -> tuple[str, str]:
    model = row_named("blackhole/mvmul.f32.bf16.phase0").model
    assert isinstance(model, GroupedDotAdd)
    return digits(model.a_bits), digits(model.b_bits)


def all_inputs_and_proofs() -> tuple[str, ...]:
    """Where b is exact in FP16 on Volta: the widths of which all inputs were tried, and those proved."""
    verdicts = {
        record["width"]: record["verdict"]
        for key, record in result("accuracy/reduced")["entries"].items()
        if key.startswith("two-by-one-exact, volta,")
    }
    tried = [width for width, verdict in verdicts.items() if verdict == "holds for all inputs"]
    proved = [width for width, verdict in verdicts.items() if verdict == "proved"]
    assert sorted([*tried, *proved]) == list(range(2, 12))
    return (str(max(tried)), *ends(proved))


def shown(page: str, pattern: str) -> tuple[str, ...]:
    """Figures of a page's console block, whose output is compared when it is run."""
    found = re.search(pattern, (ROOT / page).read_text(encoding="utf-8"))
    assert found, f"{page} does not show {pattern}"
    return found.groups()
