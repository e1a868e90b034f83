"""Commands about algorithms and splits: algorithms, compare, bound, multiply, explain, exact, find, split,
variants.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from tcsmt.interface.api.terminal import Exit, TcsmtError, ignore, make_folder
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.names import ALGORITHM, UNIT
from tcsmt.interface.cli.parameters import ARRAY, NAMED_ARRAYS, PATH
from tcsmt.interface.cli.picture import form_of, picture_options, show_picture, vector_option
from tcsmt.interface.cli.printing import answer, echo_json, say_dumped, show


@declared("recipes.recipes")
def algorithms(call: DeclaredCall, as_json: bool) -> None:
    """List the algorithms, what they do and where they come from.

    Wherever a command takes an algorithm, NAME,PARAM=VALUE,... changes one of these, and a TOML file
    (FILE.toml, or FILE.toml,PARAM=VALUE,...) is one of your own:

    \b
    format       format of the words: f16, bf16, tf32, e4m3, e5m2, ...
    split        rounding of the first word: RNE, RTZ, RNA, ...
    residual     rounding of the words after it: RNE, RTZ, RNA, ...
    scale        each residual is multiplied by a further 2^scale: 0, 1, ...
    order        of the products within a sum: written, reversed
    every        products after which the first sum begins a new chain:
                 a number, instruction; 0: one chain
    interleaved  whether each block of K sees all products of a sum before
                 the next block: yes, no
    c            where c enters: unit, first (outside, before the sums),
                 last (outside, after them)
    outside      rounding of the additions outside the unit: RNE, RTZ, ...

    A file has the same keys (interleaved = true or false), words, and a table [[sum]] for each chain with
    its products and every; base = NAME takes the rest from one of these algorithms.

    The emulations of binary64 (`accuracy bound`, `exact`, `multiply` and `sweep` take them) have these
    parameters:

    \b
    slices       slices of each number: 1, 2, ... (ozaki1)
    bits         of a slice (ozaki1); of the integers, 0: as many as K
                 allows (ozaki2)
    split        how slices are cut: RTZ (toward zero), RNE (to nearest)
    products     triangle (the larger ones), all
    order        in which products are added: written (the largest first),
                 reversed
    moduli       how many (ozaki2)
    base         of the digits of residues; 0: they are not split (ozaki2)
    every        products of a chain; 0: one chain over all of K
    format       of the words: s8, f16, bf16, e4m3, ...

    In a file, base = "ozaki1-int8" and the like; products may be pairs of slices, from 0.

    \b
    Examples:
      tcsmt accuracy algorithms
      tcsmt accuracy algorithms --json
    """
    show(call(), as_json=as_json)


@declared(
    "error_comparison.compare", one=ALGORITHM, two=ALGORITHM, unit="--unit UNIT", was={"--arch": "--unit"},
    options="solver timeout memory confirm certificate dump_smt",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Draw both algorithms on the witness, step by step.")
@click.option("--output", type=PATH, help="Write that picture here: .svg, .html or .txt.")
def compare(call: DeclaredCall, explain: bool, output: Path | None, as_json: bool) -> None:
    """Decide whether algorithm ONE is ever less accurate than TWO: an input, or a proof that there is none.

    Errors are absolute: the distance from the exact dot product c + Σ a·b.

    Exit code: 0 never less accurate (proved), 1 an input shows that it is, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy compare ootomo-halfhalf markidis --unit volta
    """
    form = form_of(output)
    comparison = call()
    say_dumped(call["options"], comparison.scripts)
    picture = comparison.picture() if explain or output is not None else None
    show(comparison, as_json=as_json)
    if explain and picture is not None and not as_json:
        click.echo()
        show_picture(picture, None, None, as_json=False)
    if output is not None and picture is not None:
        show_picture(picture, form, output, as_json=False)
    elif output is not None:
        click.echo(f"no witness: {output} is not written", err=True)
    sys.exit(comparison.exit_code)


@declared(
    "error_bound.bound", unit="--unit UNIT", was={"--arch": "--unit"},
    options="solver timeout confirm certificate",
)  # fmt: skip
@click.option("--full", is_flag=True, help="Print all words of the inputs, and every step of the proof.")
def bound(call: DeclaredCall, full: bool, as_json: bool) -> None:
    """Print the largest error of ALGORITHM that is found, and the smallest bound that is proved.

    The bound is the sum of what each kind of step can lose: the split, products that are left out,
    alignment and rounding in the unit, and additions outside the unit. A result that is not finite counts
    as an infinite error. For an emulation of binary64, errors are in units of 2^-53, and there is a second
    bound, relative to K times the largest numbers of A's row and B's column.

    ALGORITHM may be a kernel at one K, UNIT+REDUCTION+EPILOGUE@K, or a program, FILE.toml@K, without
    --unit. The error is then relative to the sum of all magnitudes (of the products times alpha, of beta
    times c, and of the bias), in units of 2^-p for a result with p significand bits.

    The answer comes first, then a short form of the inputs with the largest errors found.

    Exit code: 0 a bound is proved; 2 usage error; 3 no bound is proved, and the error shown is only found;
    4 an error was found that is larger than the bound, which is a defect in tcsmt and never an answer.

    \b
    Examples:
      tcsmt accuracy bound single-f16 --unit volta --k 4 --confirm
      tcsmt accuracy bound h100+split-k:6,parts=bf16+out=bf16@4096
      tcsmt accuracy bound ozaki1-int8,slices=7 --unit ampere --k 1024 --exponents=0:0
    """
    if call["unit"] is None:
        if "@" not in call["algorithm"]:
            raise click.UsageError("Missing option '--unit'.")
        answer(call(), as_json=as_json)
    result = call()
    answer(result, as_json=as_json, text=result.text(full=full))


@declared(
    "recipes.multiply", algorithm="", unit="--unit UNIT", a=("--a", ARRAY), b=("--b", ARRAY),
    c=ARRAY, inputs=("NAME=FILE.npy", NAMED_ARRAYS), was={"--arch": "--unit"},
)  # fmt: skip
@click.option("--output", type=PATH, required=True, help="D, (M, N), .npy.")
def multiply(call: DeclaredCall, output: Path, as_json: bool) -> None:
    """Multiply matrices by ALGORITHM on --unit, bit for bit: D = A·B + C.

    ALGORITHM may be a program's file, which names its units; it takes no --unit.

    For an algorithm on binary32, the arrays are float32 or uint32 words; for an emulation of binary64, they
    are float64, float32 or uint64 words.

    \b
    Examples:
      tcsmt accuracy multiply ozaki1-int8 --unit ampere --a A.npy --b B.npy --output D.npy
    """
    import numpy as np  # slow to import

    if output.suffix != ".npy":
        raise TcsmtError(f"--output {output}: the name must end in .npy")
    d, algorithm, unit = call(), call["algorithm"], call["unit"]
    make_folder(output.parent)
    np.save(output, d)
    if as_json:
        about = {"algorithm": algorithm, "arch": unit, "shape": list(d.shape), "dtype": str(d.dtype)}
        echo_json(about | {"output": str(output)})
        return
    where = f" on {unit}" if unit else ""
    click.echo(f"{algorithm}{where}: {d.shape[0]} x {d.shape[1]} {d.dtype}, written to {output}")


@declared(
    "error_comparison.explain", algorithm=("ONE", ALGORITHM), against=("[TWO]", ALGORITHM),
    unit="--unit UNIT", k=click.IntRange(1, 64), vector="--vector", rounded=None, was={"--arch": "--unit"},
)  # fmt: skip
@picture_options
def explain(call: DeclaredCall, form: str | None, output: Path | None, as_json: bool) -> None:
    """Draw algorithm ONE on a dot product, step by step; with TWO, draw both and where they first differ.

    \b
    Examples:
      tcsmt accuracy explain markidis --unit volta --vector "a0=0.1 b0=0.3"
    """
    with vector_option() as rounded:
        explanation = call(rounded=rounded)
    show_picture(explanation, form, output, as_json=as_json)


@declared(
    "exact.exact", unit=None, algorithm=None, was={"--arch": "--unit"},
    options="solver timeout confirm certificate",
)  # fmt: skip
@click.argument("name", metavar="UNIT|ALGORITHM", type=UNIT)
@click.option("--unit", type=UNIT, help="The unit on which an algorithm runs.")
def exact(call: DeclaredCall, name: str, unit: str | None, as_json: bool) -> None:
    """Is the chained result of UNIT, or of ALGORITHM on --unit, exactly the dot product of integers?

    With --integers, finds the largest K for which this is proved for all inputs with c = 0; with --k, the
    largest integers; with both, whether it holds. Then prints the smallest input found beyond that on which
    the result is another one. UNIT may be a kernel or a program at one K: UNIT+split-k:4@64, FILE.toml@64.

    Exit code: 0 exactness is proved; 1 an input shows that it does not hold; 2 usage error; 3 neither;
    4 an input contradicts the proof, which is a defect in tcsmt and never an answer.

    \b
    Examples:
      tcsmt accuracy exact h100/wgmma.m64nNk32.f32.e4m3.e4m3 --integers 16
      tcsmt accuracy exact ampere/mma.m16n8k32.s32.s8.s8.s32 --k 4096
      tcsmt accuracy exact fp8-promoted --unit h100 --integers 15 --k 128
      tcsmt accuracy exact ozaki1-int8,slices=3 --unit ampere --k 64
    """
    answer(call(unit=unit or name, algorithm=name if unit else ""), as_json=as_json)


@declared(
    "error_comparison.find", unit="--unit UNIT", was={"--arch": "--unit"},
    options="solver timeout confirm certificate",
)  # fmt: skip
def find(call: DeclaredCall, as_json: bool) -> None:
    """Decide whether ALGORITHM has a flaw: an input that shows it, or a proof that there is none.

    QUESTION is monotone (can the result decrease when one input word increases, and the exact c + Σ a·b with
    it?) or sign (can the result be zero or have the wrong sign when the exact sum is not zero?).

    Exit code: 0 no flaw (proved), 1 an input shows the flaw, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy find monotone markidis --unit volta
      tcsmt accuracy find sign single-f16 --unit volta --c-zero --certificate proofs
    """
    answer(call(), as_json=as_json)


@declared("splits.split", options="solver timeout confirm reuse certificate")
def split(call: DeclaredCall, as_json: bool) -> None:
    """Show what a split of an FP32 number into narrower words keeps, and where its residual underflows.

    For each split: the error in units in the last place (ulp) of x, the share of exact significands, the
    expected number of mantissa bits kept (of 23), and the probabilities that the last word underflows, or
    is subnormal, by exponent. --prove and --enumerate show, for all inputs, that the error is what the
    closed form says. Only --prove can leave a certificate.

    Exit code: 0 all inputs agree with the closed form, 1 some input does not, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt accuracy split --prove
      tcsmt accuracy split --format bf16 --prove --certificate proofs
    """
    if call["options"].certificate is not None and not call["prove"]:
        raise click.UsageError("--certificate needs --prove")
    analyses = call.with_progress(
        lines=False, late=True, on_text=ignore if as_json else click.echo, say=partial(click.echo, err=True)
    )
    if as_json:
        echo_json({"splits": [analysis.as_json() for analysis in analyses]})
    codes = {analysis.exit_code for analysis in analyses}
    sys.exit(next((code for code in (Exit.DIFFERS, Exit.UNKNOWN) if code in codes), Exit.ANSWERED))


@declared("reproduce.variants", largest=click.IntRange(min=1000))
def variants(call: DeclaredCall, as_json: bool) -> None:
    """Change one parameter of the V100 or the B200 at a time: Khattak and Mikaitis's open question.

    Computes multi-word products of FP16 words (V-B, Fig. 7) on both models and on every variant that
    differs in one parameter, with random signs (as published) and with positive entries. With --output,
    a plot is written beside the file (.svg).

    \b
    Examples:
      tcsmt accuracy variants --output variants.json
    """
    result, output = call(on_text=ignore if as_json else click.echo), call["output"]
    if as_json:
        show(result, as_json=True)
    if output is None:
        return
    try:
        result.plot(output.with_suffix(".svg"))
    except TcsmtError as error:
        click.echo(f"no plot: {error}", err=True)
