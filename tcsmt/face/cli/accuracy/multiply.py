"""``tcsmt accuracy multiply``."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from tcsmt.face.api.array_files import read_array
from tcsmt.face.api.multiply import multiply as product_of
from tcsmt.face.api.terminal import TcsmtError, make_folder
from tcsmt.face.cli import options
from tcsmt.face.cli.accuracy.inputs import arch_option
from tcsmt.face.cli.names import ALGORITHM
from tcsmt.face.cli.printing import echo_json


@click.command()
@click.argument("algorithm", type=ALGORITHM)
@arch_option
@click.option("--a", "a_path", type=click.Path(path_type=Path), required=True, help="A, (M, K), .npy.")
@click.option("--b", "b_path", type=click.Path(path_type=Path), required=True, help="B, (K, N), .npy.")
@click.option("--c", "c_path", type=click.Path(path_type=Path), help="C, (M, N), .npy.  [default: zeros]")
@click.option("--output", type=click.Path(path_type=Path), required=True, help="D, (M, N), .npy.")
@options.as_json
def multiply(
    algorithm: str, arch: str, a_path: Path, b_path: Path, c_path: Path | None, output: Path, as_json: bool
) -> None:
    """Multiply matrices by ALGORITHM on --arch, bit for bit: D = A·B + C.

    Of an algorithm on binary32, the arrays are float32 or uint32 words; of an emulation of binary64, float64,
    float32 or uint64 words.

    \b
    Examples:
      tcsmt accuracy multiply ozaki1-int8 --arch ampere --a A.npy --b B.npy --output D.npy
    """
    if output.suffix != ".npy":
        raise TcsmtError(f"--output {output}: the name must end in .npy")
    a, b = read_array(a_path), read_array(b_path)
    c = None if c_path is None else read_array(c_path)
    d = product_of(a, b, c, algorithm=algorithm, unit=arch)
    make_folder(output.parent)
    np.save(output, d)
    if as_json:
        about = {"algorithm": algorithm, "arch": arch, "shape": list(d.shape), "dtype": str(d.dtype)}
        echo_json(about | {"output": str(output)})
        return
    click.echo(f"{algorithm} on {arch}: {d.shape[0]} x {d.shape[1]} {d.dtype}, written to {output}")
