"""``tcsmt kernel``: questions about matrix products as kernels compute them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tcsmt.interface.api.terminal import TcsmtError, interrupted_once, progress_bar, replace_text
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.lazy import Lazy
from tcsmt.interface.cli.names import UNIT
from tcsmt.interface.cli.parameters import ARRAY, COMMAS, NAMED_ARRAYS, PATH, SETTINGS, function_named
from tcsmt.interface.cli.printing import answer, echo_json, link_options, links_wanted

_GROUPS = {
    "Kernels": {
        "invariant": "Which reductions give the same bits?",
        "tolerance": "How far can a product be from the exact one?",
        "test-power": "Which wrong kernels does a test let through?",
        "tree": "In which order does a matrix product add up?",
        "read": "What does a compiled kernel compute?",
        "configs": "Which configurations of a Triton kernel give the same bits?",
    },
    "Recorded results": {
        "identify": "Which kernels give a product bit for bit?",
        "diff": "Show how two results differ, and at which step.",
    },
}


@click.group(
    cls=Lazy,
    package=__package__,
    groups=_GROUPS,
    modules={"kernel": "invariant tolerance test-power tree read configs identify diff"},
)
def kernel() -> None:
    """Ask about matrix products as kernels compute them: a unit, a reduction, an epilogue.

    \b
    Examples:
      tcsmt kernel identify --a A.npy --b B.npy --d D.npy
      tcsmt kernel invariant h100 --reductions chained,split-k:2
      tcsmt kernel tolerance h100+split-k:2 --a A.npy --b B.npy
      tcsmt kernel tree --python numpy:matmul --k 256
      tcsmt kernel read matmul.ptx --arguments A,B,D,64,64,64,64,64,64 --output matmul.toml
      tcsmt kernel configs matmul.py:product --target h100
      tcsmt kernel diff --a A.npy --b B.npy --left D1.npy --right D2.npy
    """


@declared(
    "kernel_identify.kernel_identify", "kernel_identify.KernelIdentified.plan", a=("--a", ARRAY),
    b=("--b", ARRAY), d=("--d", ARRAY), c=ARRAY, a_format="FORMAT", b_format="FORMAT", c_format="FORMAT",
    d_format="FORMAT", units="", alpha="", beta="", seed="",
    time_limit=("SECONDS", click.FloatRange(0, min_open=True)), solve="", self=None,
    options="timeout memory",
)  # fmt: skip
@click.option(
    "--plan",
    type=PATH,
    metavar="DIR",
    help="Write A.npy and B.npy here; their product tells apart the kernels that explain D.",
)
def identify(call: DeclaredCall, plan: Path | None, as_json: bool) -> None:
    """Find the kernels that compute D from A and B bit for bit: unit, order along K, partial sums,
    epilogue.

    All hypotheses are tried on a few elements of D, the simplest first; those that survive are tried on
    more elements, and the last ones on all. np.save writes bfloat16 and 8-bit floats without their names:
    give --a-format, --b-format, --d-format. Files are never unpickled.

    If none explains D, prints the nearest one, and the kind of step that D seems to have in addition.

    Exit code: 0 explained, 1 no hypothesis explains D, 2 usage error, 3 stopped before one did.

    \b
    Examples:
      tcsmt kernel identify --a A.npy --b B.npy --d D.npy
      tcsmt kernel identify --a A.npy --b B.npy --d D.npy --a-format bf16 --b-format bf16 --d-format bf16
    """

    def explained(kernel: Any) -> None:
        if sys.stderr.isatty():
            click.echo(f"gives all of D: {kernel.name}", err=True)

    with interrupted_once(), progress_bar(lines=False) as progress:
        result = call(progress=progress, explained=explained)
        made = None
        if plan is not None and result.kernels:
            made = call.of("plan")(self=result, progress=progress)
    if made is not None and plan is not None:
        made.save(plan)
    if as_json:
        echo_json(result.as_json() | ({"plan": made.as_json()} if made is not None else {}))
    else:
        click.echo(str(result))
        if made is not None:
            click.echo(str(made))
    sys.exit(result.exit_code)


@declared(
    "kernel_diff.kernel_diff", a=("--a", ARRAY), b=("--b", ARRAY), left=("--left", ARRAY),
    right=("--right", ARRAY), c=ARRAY, bias=ARRAY, left_kernel=("UNIT[+REDUCTION[+EPILOGUE]]", UNIT),
    right_kernel=("UNIT[+REDUCTION[+EPILOGUE]]", UNIT), element="ROW COLUMN", a_format="FORMAT",
    b_format="FORMAT", was={"--left-unit": "--left-kernel", "--right-unit": "--right-kernel"},
)  # fmt: skip
@click.option("--output", type=PATH, help="Write a page with a heat map of the differences here (.html).")
@link_options
def diff(call: DeclaredCall, output: Path | None, link: bool, page: str | None, as_json: bool) -> None:
    """Say how two results of one matrix product differ, and why.

    Prints how many elements differ, by how many units in the last place, the first of them and the worst.
    With --left-kernel and --right-kernel, says whether these kernels give the recorded results, and prints
    one element's chains of instructions side by side, with the first instruction that differs drawn bit by
    bit. The exit code is 0 if no element differs, else 1.

    \b
    Examples:
      tcsmt kernel diff --a A.npy --b B.npy --left D1.npy --right D2.npy --output diff.html
      tcsmt kernel diff --a A.npy --b B.npy --left D.npy --right E.npy --left-kernel h100 --right-kernel a100
    """
    if output is not None and output.suffix != ".html":
        raise TcsmtError(f"--output {output}: the name must end in .html")
    difference = call()
    if output is not None:
        replace_text(output, difference.as_html())
    answer(difference, as_json=as_json, links=links_wanted(difference, link, page))


@declared(
    "kernel_invariant.kernel_invariant", unit="", reductions="--reductions REDUCTION,...",
    k=("N", click.IntRange(1)), epilogue="EPILOGUE", domain="", narrow="",
    options="solver timeout memory confirm reuse certificate",
)  # fmt: skip
def invariant(call: DeclaredCall, as_json: bool) -> None:
    """Decide which ways to cut K and to add up the parts give the same bits on UNIT.

    Prints groups of reductions that are proved to agree for all inputs of the domain, and for each pair of
    groups an input with few products on which they differ. Then prints the same for narrower domains in
    which more of them agree, and for integers that all of them add up exactly. All results are about dot
    products of the length --k.

    Exit code: 0 all agree (proved), 1 some differ, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt kernel invariant h100 --reductions chained,split-k:2,split-k:4
      tcsmt kernel invariant volta --reductions split-k:2,split-k:2,reversed --epilogue c=epilogue
    """
    answer(call.with_progress(lines=False), as_json=as_json)


@declared(
    "tolerance.tolerance", "tolerance.Tolerance.pair", kernel=("KERNEL", UNIT), a=("--a", ARRAY),
    b=("--b", ARRAY), c=ARRAY, bias=ARRAY,
    unit="--unit UNIT", inputs=("NAME=FILE.npy", NAMED_ARRAYS), against=("KERNEL", UNIT),
    a_format="FORMAT", b_format="FORMAT", quantiser="RECIPE", reference="dequantised|original|KERNEL",
    precision="FORMAT", self=None,
    search=("SECONDS", click.FloatRange(min=0)), options="solver timeout memory confirm reuse",
)  # fmt: skip
@click.option("--d", type=ARRAY, help="D, (..., M, N), .npy: is each element within its bound?")
@click.option("--output", type=PATH, metavar="ATOL.npy", help="Write atol, float64, (..., M, N).")
@click.option(
    "--pair", "paired", is_flag=True, help="Print also a pair (rtol, atol), a cosine, a norm, a PCC."
)
def tolerance(call: DeclaredCall, d: Path | None, output: Path | None, paired: bool, as_json: bool) -> None:
    """Bound how far each element of KERNEL's product of A and B can be from the exact one: proved.

    KERNEL is UNIT+REDUCTION+EPILOGUE, as `tcsmt gemm` takes them: h100+split-k:6,parts=bf16+out=bf16; or a
    program's file; or, with --unit, an algorithm, as `tcsmt accuracy multiply` takes them. The bounds are an
    array atol of D's shape: each element is within atol of the exact one, for these matrices.
    The command says whether the tolerance is vacuous, and how large an error a search finds. With --d, it
    says whether a result is within its bounds; if not, it names the worst element, and the kind of bug that
    gives such a result. np.save writes bfloat16 and 8-bit floats without their names: give --a-format and
    --b-format.

    Exit code: 0 proved, and D within its bounds; 1 some element of D is not; 2 usage error, or a step of
    the kernel that no lemma covers, which is named; 4 an error was found that is larger than its bound, a
    defect in tcsmt.

    \b
    Examples:
      tcsmt kernel tolerance h100+split-k:2 --a A.npy --b B.npy --output atol.npy
      tcsmt kernel tolerance h100+chained+out=f16 --a A.npy --b B.npy --d D.npy
      tcsmt kernel tolerance markidis --unit volta --a A.npy --b B.npy
      tcsmt kernel tolerance h100 --a A.npy --b B.npy --quantiser fp8-block --reference original --pair
    """
    recorded = None if d is None else ARRAY.read(d)
    result = call()
    if output is not None:
        result.save(output)
    made = call.of("pair")(self=result) if paired else None
    shown = result if d is None else result.check(recorded)
    if as_json:
        echo_json(shown.as_json() | ({} if made is None else {"pair": made.as_json()}))
    else:
        click.echo("\n".join(map(str, [shown, *([] if made is None else [made])])))
    sys.exit(shown.exit_code)


@declared(
    "power.power", "power_proposal.propose", kernel=("KERNEL", UNIT), a=ARRAY, b=ARRAY, c=ARRAY, bias=ARRAY,
    criterion="CRITERION",
    shape="M N K", format="FORMAT", quantiser="RECIPE", expected="exact|rounded|original|KERNEL",
    only=("NAME,...", COMMAS), power=None, right="--right KERNEL",
)  # fmt: skip
@click.option("--python", "function", metavar="MODULE:FUNCTION", help="This function is the criterion.")
@click.option(
    "--propose", is_flag=True, help="Propose better criteria, and operands that kill the survivors."
)
@click.option("--output", type=PATH, metavar="TESTS.npz", help="Write the proposed operands here.")
def test_power(
    call: DeclaredCall, function: str | None, propose: bool, output: Path | None, as_json: bool
) -> None:
    """Say which wrong kernels a test of KERNEL lets through: its operands, and its criterion.

    Some forty wrong kernels are made from the right one, and simulated bit for bit: elements never written,
    terms of K left out or added twice, races, narrower formats, truncation, another unit, wrong scales. The
    operands are A and B, or those of a named generator. Those that pass are listed, with what they do and
    where such a bug was public. With --propose, better criteria are printed, each proved to accept KERNEL and
    the kernels of --right, and operands that kill what still passes.

    Exit code: 0 the right kernel passes and no wrong one, 1 a wrong one passes, or the right one fails,
    2 usage error.

    \b
    Examples:
      tcsmt kernel test-power h100+split-k:4 --a A.npy --b B.npy --criterion rtol=1e-2,atol=1e-2
      tcsmt kernel test-power h100+out=bf16 --generator normal --shape 64 64 1024 --criterion "pcc>=0.99"
      tcsmt kernel test-power h100 --a A.npy --b B.npy --rtol 0.01 --propose --right h100+split-k:2
    """
    more = {}
    if function is not None:
        more["criterion"] = criterion = function_named(function)
        criterion.__qualname__ = function
    if output is not None and not propose:
        raise click.UsageError("--output is of --propose")
    result = call(**more)
    made = call.of("propose")(power=result) if propose else None
    if made is not None and output is not None:
        made.save(output)
    if as_json:
        echo_json(result.as_json() | ({} if made is None else {"proposal": made.as_json()}))
    else:
        click.echo("\n".join(map(str, [result, *([] if made is None else [made])])))
    sys.exit(result.exit_code)


@declared(
    "kernel_tree.kernel_tree", multiply=None, k=("--k N", click.IntRange(2)), format="FORMAT",
    shape="M N", products=("--products N", click.IntRange(1000)),
)  # fmt: skip
@click.option(
    "--python", "function", metavar="MODULE:FUNCTION", help="This function of NumPy arrays A and B gives D."
)
@click.option("--kernel", type=UNIT, metavar="UNIT[+REDUCTION]", help="This kernel, simulated.")
def tree(call: DeclaredCall, function: str | None, kernel: str | None, as_json: bool) -> None:
    """Find the order in which a matrix product adds up the products of an element, from its results alone.

    Of two large numbers of opposite sign, each absorbs what is added to it, until the two cancel. Prints
    sums of products p0, p1, ..., and the formats to which sums and products are rounded, by region of D
    where elements differ. Every tree is tried on random products with both signs and wide exponents, and
    must give every bit of their results. A function that no tree describes is refused: with the element
    that differs, both values, and why.

    Exit code: 0 a tree for every element, 2 usage error or no tree, 3 a tree for some elements.

    \b
    Examples:
      tcsmt kernel tree --python numpy:matmul --k 256
      tcsmt kernel tree --python numpy:matmul --k 48 --shape 1 1
      tcsmt kernel tree --python my_kernels:gemm --k 1024 --format f16
      tcsmt kernel tree --kernel h100+split-k:2 --k 128 --shape 8 8
    """
    if (function is None) == (kernel is None):
        raise click.UsageError("give one of --python and --kernel")
    multiply = str(kernel) if function is None else function_named(function)
    answer(call.with_progress(lines=False, multiply=multiply), as_json=as_json)


@declared(
    "kernel_read.kernel_read", file=("FILE.ptx|FILE.py:FUNCTION", PATH),
    arguments=("--arguments A,B,D,64,...", COMMAS), target="GPU", kernel="NAME", element="N", block="X Y Z",
    grid="X Y Z", threads="X Y Z", launch="N", settings=("--set NAME=VALUE", SETTINGS),
)  # fmt: skip
@click.option("--output", type=PATH, metavar="FILE.toml", help="Write the program here.")
def read(call: DeclaredCall, output: Path | None, as_json: bool) -> None:
    """Read a compiled kernel (PTX) as a program: what an element of its result is, step by step.

    Runs one block of the kernel on the arguments that are given, without a GPU, and follows one element back:
    which words meet in which instruction, in which order of K, what is converted, added and stored. What the
    text leaves open to the GPU's assembler is listed as a freedom. An instruction that is not known with all
    of its modifiers, a branch or address that depends on numbers, and a race in shared memory are errors,
    which name the line and the line of its source. The file that --output writes is a unit: FILE.toml@K.

    \b
    Examples:
      tcsmt kernel read matmul.ptx --arguments A,B,D,64,64,64,64,64,64
      tcsmt kernel read matmul.ptx --arguments A,B,D,64,64,64,64,64,64 --target h100 --output matmul.toml
      tcsmt kernel read matmul.py:product --target h100 --set BLOCK_M=64
    """
    settings = call["settings"]
    several = [name for name, values in (settings or {}).items() if len(values) > 1]
    if several:
        raise TcsmtError(f"--set {several[0]}: one value is expected")
    result = call(settings=settings and {name: value for name, (value,) in settings.items()})
    if output is not None:
        if output.suffix != ".toml":
            raise TcsmtError(f"--output {output}: the name must end in .toml")
        result.save(output)
    answer(result, as_json=as_json)


@declared(
    "kernel_configs.configs", function="FILE.py:FUNCTION", target="--target GPU",
    settings=("--set NAME=VALUE,...", SETTINGS), domain="", launch="N", elements="--element N",
    options="solver timeout memory confirm reuse certificate",
)  # fmt: skip
def configs(call: DeclaredCall, as_json: bool) -> None:
    """Decide which configurations of a Triton kernel give the same bits.

    FUNCTION launches the kernel on CPU tensors, as its author does. It runs once for each configuration of
    @triton.autotune, and for each combination of --set; the kernel is compiled for the GPU, which need not be
    there, and an element's program is read from each compiled text. Prints classes of configurations that
    are proved to give the same bits, and for each two classes an input on which they differ, confirmed in
    both compiled kernels.

    Exit code: 0 all give the same bits (proved), 1 some differ, 2 usage error, 3 unknown.

    \b
    Examples:
      tcsmt kernel configs matmul.py:product --target h100
      tcsmt kernel configs matmul.py:product --target h100 --set BLOCK_M=16,32,64 --element 0
    """
    answer(call.with_progress(lines=False), as_json=as_json)
