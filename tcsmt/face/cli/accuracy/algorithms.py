"""``tcsmt accuracy algorithms``."""

from __future__ import annotations

import click

from tcsmt.face.api.recipes import recipes
from tcsmt.face.cli import options
from tcsmt.face.cli.printing import show


@click.command()
@options.as_json
def algorithms(as_json: bool) -> None:
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
    show(recipes(), as_json=as_json)
