"""``tcsmt kernel diff``."""

from __future__ import annotations

from pathlib import Path

import click

from tcsmt.face.api.array_files import read_array
from tcsmt.face.api.kernel_diff import kernel_diff
from tcsmt.face.api.terminal import TcsmtError, replace_text
from tcsmt.face.cli import options
from tcsmt.face.cli.linked import link_options, links_wanted
from tcsmt.face.cli.names import UNIT
from tcsmt.face.cli.printing import answer

_ARRAY = click.Path(path_type=Path)


@click.command()
@click.option("--a", "a_path", type=_ARRAY, required=True, help="A, (M, K), .npy.")
@click.option("--b", "b_path", type=_ARRAY, required=True, help="B, (K, N), .npy.")
@click.option("--left", "left_path", type=_ARRAY, required=True, help="One result, (M, N), .npy.")
@click.option("--right", "right_path", type=_ARRAY, required=True, help="The other result, (M, N), .npy.")
@click.option("--c", "c_path", type=_ARRAY, help="C, (M, N), .npy.  [default: none]")
@click.option("--bias", "bias_path", type=_ARRAY, help="The bias of an epilogue, (N,), .npy.")
@click.option("--left-unit", type=UNIT, metavar="UNIT[+REDUCTION[+EPILOGUE]]", help="What computed --left.")
@click.option("--right-unit", type=UNIT, metavar="UNIT[+REDUCTION[+EPILOGUE]]", help="What computed --right.")
@click.option(
    "--element",
    type=(int, int),
    metavar="ROW COLUMN",
    help="The element to explain, counted from 0.  [default: the one that differs most]",
)
@click.option("--output", type=_ARRAY, help="Write a page with a heat map of the differences here (.html).")
@click.option("--a-format", metavar="FORMAT", help="Format of A's words.  [default: by the dtype]")
@click.option("--b-format", metavar="FORMAT", help="Format of B's words.  [default: by the dtype]")
@options.operands
@link_options
@options.as_json
def diff(
    a_path: Path,
    b_path: Path,
    left_path: Path,
    right_path: Path,
    c_path: Path | None,
    bias_path: Path | None,
    left_unit: str | None,
    right_unit: str | None,
    element: tuple[int, int] | None,
    output: Path | None,
    a_format: str | None,
    b_format: str | None,
    operands: str | None,
    link: bool,
    page: str | None,
    as_json: bool,
) -> None:
    """Say how two results of one matrix product differ, and why.

    How many elements differ, by how many units in the last place, the first of them and the worst. With
    --left-unit and --right-unit: whether these kernels give what was recorded, and one element's chains of
    instructions side by side, with the first instruction that differs drawn bit by bit.
    The exit code is 0 if no element differs, else 1.

    \b
    Examples:
      tcsmt kernel diff --a A.npy --b B.npy --left D1.npy --right D2.npy --output diff.html
      tcsmt kernel diff --a A.npy --b B.npy --left D.npy --right E.npy --left-unit h100 --right-unit a100
    """
    if output is not None and output.suffix != ".html":
        raise TcsmtError(f"--output {output}: the name must end in .html")
    a, b, left, right = (read_array(path) for path in (a_path, b_path, left_path, right_path))
    c, bias = (None if path is None else read_array(path) for path in (c_path, bias_path))
    difference = kernel_diff(
        a,
        b,
        left,
        right,
        c,
        bias=bias,
        a_format=a_format,
        b_format=b_format,
        left_kernel=left_unit,
        right_kernel=right_unit,
        operands=operands,
        element=element,
    )
    if output is not None:
        replace_text(output, difference.as_html())
    answer(difference, as_json=as_json, links=links_wanted(difference, link, page))
