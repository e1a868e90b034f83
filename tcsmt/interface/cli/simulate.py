"""Commands that compute: run, gemm, quantise, explain, page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from tcsmt.interface.api.terminal import TcsmtError, counted
from tcsmt.interface.cli.declared import DeclaredCall, declared
from tcsmt.interface.cli.parameters import ARRAY, FACTOR, PATH
from tcsmt.interface.cli.picture import RoundedInputs, picture_options, show_picture, vector_option
from tcsmt.interface.cli.printing import answer, echo_json, link_options, links_wanted, show


@declared("run.run", unit="UNIT", path="--input")
@click.option("--output", type=PATH, help="Write the results here: JSON, CSV or .npz, by the suffix.")
@click.option("--explain", is_flag=True, help="Print every stage of every row, also with --output.")
def run(call: DeclaredCall, output: Path | None, explain: bool, as_json: bool) -> None:
    """Simulate UNIT on the rows of a file.

    A value is a hexadecimal word with all digits of the format (0x3c00), a decimal number (rounded to
    the nearest value of the format, or by --operands), or a C99 hexadecimal number (0x1.8p-3; must be
    exact). A row has a0, a1, ..., b0, b1, ..., c, and sa0, ..., sb0, ... if the unit takes block scales.

    If UNIT names no instruction, it is the most used one that takes a and b in the formats of the .npz
    file's dtypes. Text does not say formats: for it, UNIT is the most used instruction of all.

    Prints the results. With --output, writes them to that file instead, which `tcsmt validate` can read.

    \b
    Examples:
      tcsmt run volta --input rows.csv --output results.csv
      tcsmt run a100/m16n8k8.f32.tf32 --input rows.npz --operands nearest-even
    """
    rounded = RoundedInputs()
    simulated = call(rounded=rounded)
    rounded.finish()
    if output is not None:
        simulated.save(output)
        click.echo(f"{output}: {counted(len(simulated), 'row')} of {simulated.row.name}", err=True)
        if as_json:
            facts = {"output": str(output), "rows": len(simulated), "rounded": rounded.said}
            echo_json({"model": simulated.row.name} | facts)
    elif as_json:
        echo_json(simulated.as_json())
    if not as_json and (output is None or explain):
        click.echo(simulated.text(stages=explain))


@declared(
    "stored_products.stored_product", unit="UNIT", a=("--a", ARRAY), b=("--b", ARRAY), c=ARRAY, scale_a=ARRAY,
    scale_b=ARRAY, output="--output", alpha=("NUMBER|FILE", FACTOR), beta="", bias=ARRAY, random=ARRAY,
    reduction="", epilogue="", a_format="FORMAT", b_format="FORMAT", columns=click.IntRange(min=1),
)  # fmt: skip
def gemm(call: DeclaredCall, as_json: bool) -> None:
    """Multiply matrices as a kernel on UNIT would: D = alpha·A·B + beta·C.

    If UNIT names no instruction, it is the most used one that takes A and B in the formats of their dtypes;
    with --operands, one whose formats have the range of the dtypes, such as TF32 for float32. np.save
    writes bfloat16 and 8-bit floats without their names: give --a-format and --b-format. Files that tcsmt
    wrote keep the names; so do tensors in .safetensors and PyTorch's .pt files, which are named after a
    colon.

    Arrays have the dtype of their format, or hold unsigned words, or values of another floating-point dtype
    that the format can represent; --operands rounds values that it cannot. Stacks of matrices (A of shape
    (..., M, K)) are multiplied as NumPy's matmul does. An interrupted run leaves its partial output next to
    --output, and the next run continues from it.

    \b
    Examples:
      tcsmt gemm h200 --a A.npy --b B.npy --output D.npy --reduction split-k:2
      tcsmt gemm h200 --a A.npy --b B.npy --output D.npy --a-format bf16 --b-format bf16
      tcsmt gemm h100/wgmma.m64nNk8 --a A.npy --b B.npy --output D.npy --operands nearest-even
      tcsmt gemm h100 --a layer.safetensors:x --b layer.safetensors:w --output D.npy
      tcsmt gemm h100 --a A.npy --b B.npy --alpha rows.npy --output D.npy
    """
    if call["output"].suffix != ".npy":
        raise TcsmtError(f"--output {call['output']}: the name must end in .npy")
    answer(call.with_progress(lines=False), as_json=as_json)


@declared("quantise.quantise", recipe="RECIPE", matrix=ARRAY, side="", role="", format="FORMAT")
@click.option("--output", type=PATH, help="The values, .npy.")
@click.option("--scales", type=PATH, help="The scales, .npy.")
def quantise(call: DeclaredCall, output: Path | None, scales: Path | None, as_json: bool) -> None:
    """Round MATRIX to narrow numbers by RECIPE, with the scales of its blocks, as libraries do.

    RECIPE is one of bf16, fp16, tf32, fp8-tensor, fp8-row, fp8-block, fp8-block-torchao, mxfp8, mxfp8-up,
    mxfp4, nvfp4, or a quantiser (LIBRARY/NAME; see `tcsmt describe quantisers`). MATRIX is .npy, or a
    tensor .safetensors:NAME or .pt:NAME, of float32 or narrower. Blocks lie along K: `tcsmt gemm` takes the
    values, and block scales as they are. The files record their formats.

    \b
    Examples:
      tcsmt quantise mxfp8 A.npy --output qA.npy --scales sA.npy
      tcsmt quantise nvfp4 B.npy --side b --output qB.npy --scales sB.npy --json
      tcsmt quantise te/nvfp4 A.npy --output qA.npy --scales sA.npy
    """
    result = call()
    if output is not None:
        result.save(output, scales)
    elif scales is not None:
        raise TcsmtError(f"--scales {scales}: name a file for the values, too (--output)")
    answer(result, as_json=as_json)


@declared("pictures.explain", unit="UNIT", vector=None, against="--against UNIT", rounded=None)
@click.option("--input", "source", type=PATH, help="File of rows: JSON, CSV or .npz.")
@click.option("--vector", help='One row: "a0=1.5 b0=0x3e00 c=-0x1p-4"; inputs not named are 0 (scales: 1).')
@link_options
@click.option("--browser", is_flag=True, help="Open the link in a browser instead of drawing here.")
@picture_options
def explain(
    call: DeclaredCall,
    source: Path | None,
    vector: str | None,
    link: bool,
    page: str | None,
    browser: bool,
    form: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Draw one dot-add of UNIT bit by bit.

    A value is a hexadecimal word with all digits of the format (0x3c00), a decimal number (rounded to
    the nearest value of the format), or a C99 hexadecimal number (0x1.8p-3; must be exact).

    \b
    Examples:
      tcsmt explain volta --vector "a0=1.5 b0=0x3e00 c=-0x1p-4"
      tcsmt explain volta --vector "a0=1 b0=1 c=1e-9" --against ampere --output both.svg
      tcsmt explain volta --vector "a0=1 b0=1 c=1e-9" --against ampere --browser
    """
    if browser and (form or output):
        raise click.UsageError("--browser draws nothing here: --format and --output are not allowed")
    if (source is None) == (vector is None):
        raise click.UsageError("give one of --input and --vector")
    if call["row"] is not None and source is None:
        raise click.UsageError("--row chooses a row of --input")
    if source is not None:
        noted = RoundedInputs()
        picture = call(vector=source, rounded=noted)
        noted.finish()
    else:
        with vector_option() as rounded:
            picture = call(vector=vector, rounded=rounded)
    if not browser:
        show_picture(picture, form, output, as_json=as_json, links=links_wanted(picture, link, page))
        return
    from tcsmt.interface.api.links import links  # a page is needed for nothing else

    made = links(picture, page)
    show(made, as_json=as_json)
    made.open(partial(click.echo, err=True))


_FOLDER = click.Path(path_type=Path, file_okay=False)


@declared(
    "page.page", folder=("DIR", _FOLDER), units="[UNIT]...",
    results=("DIR", click.Path(path_type=Path, file_okay=False, exists=True)),
)  # fmt: skip
def page(call: DeclaredCall, as_json: bool) -> None:
    """Write a page to DIR that computes units bit for bit in a browser.

    Open DIR/index.html: no server is needed, and nothing is sent anywhere. Without UNIT, the page has the
    whole catalogue, and kernels of few products. A UNIT may be a model file, or a kernel: UNIT+REDUCTION@K.

    \b
    Examples:
      tcsmt page site --results results
      tcsmt page site mine.toml h100 "h100+split-k:2@32"
    """
    show(call.with_progress(lines=False), as_json=as_json)
