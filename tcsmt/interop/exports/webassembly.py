"""A model as a WebAssembly module that says of itself what its words in memory are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any

from tcsmt.interop.exports.design import Design
from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.terms import Term, variables
from tcsmt.language.write.webassembly import module
from tcsmt.matrix_units.arithmetic.datapath import Exponent, Fixed, Number, SignMagnitude
from tcsmt.matrix_units.arithmetic.formats import AnyFormat
from tcsmt.matrix_units.models import Model, Stage
from tcsmt.matrix_units.models.file_texts import table_of_format
from tcsmt.matrix_units.models.stages import Value, Where
from tcsmt.prove.statements.explain import term_of
from tcsmt.simulate.kernel_source import operands
from tcsmt.support.version import __version__

#: The module's section with the description.
SECTION = "tcsmt"
#: Raised when a reader of an older description would misread a newer one.
_VERSION = 1
#: Inputs beyond which a value is not called by them.
_FACTORS = 4


@dataclass(frozen=True)
class UnitModule:
    """A WebAssembly module, and its description, which it also holds as JSON.

    code: the module. It exports ``memory``, ``result`` (from the inputs' words to d's) and, with stages,
    ``stages`` (to all words). about: where each word lies and what it is, see :func:`module_of`. terms: the
    words that it gives, in the order of their table.
    """

    code: bytes
    about: dict[str, Any]
    terms: tuple[Term, ...]


def webassembly(design: Design) -> UnitModule:
    """Return the module of a row's model, whose description also names the unit, its source and its
    evidence.
    """
    row = design.row
    facts = {"unit": row.name, "source": row.source, "date": row.date, "evidence": row.evidence}
    return module_of(design.model, {"tcsmt": __version__, "name": design.name, **facts})


def module_of(model: Model, facts: Mapping[str, Any] | None = None, *, stages: bool = True) -> UnitModule:
    """Return the module of a model. stages: with the function for the stages and their description.

    Every word has 8 bytes of memory, the lowest byte first: the inputs from address 0 on, in the order of
    :attr:`.Model.input_names`, then d and what else ``words`` of the description tells. The description has,
    besides the ``facts``:

    version: 1. title, k, parameters: of the model. inputs: name, count and format of each operand.
    result: index into ``words``, and format. words: of each its address divided by 8, and its width (of more
    than 64 bits: several words, the lowest first). values: what stages hold, each with its type; sign,
    exponent, significand, magnitude, zero, infinite, nan and word are indices into ``words``, and an exponent
    is its word plus ``low``; source, addends and summed are indices into ``values``; inputs, where there are
    few, are those that its digits depend on. stages: name, label, block, kind and lane as
    :class:`.Stage` has them, the index of the value; ``term`` is the same text for stages of two models that
    hold the same kind of result of the same inputs.
    """
    words = _Words()
    result = {"word": words.index(model.trace.output), "format": _format(model.d_format)}
    values = _Values(model, words)
    listed = [_stage(stage, values) for stage in model.trace.stages] if stages else []
    limbs = fitted(list(words.places), lambda macro: False)
    places = len(model.trace.inputs)
    table = []
    for word, parts in zip(words.places, limbs, strict=True):
        table.append([places, word.width])
        places += len(parts)
    about: dict[str, Any] = {
        **(facts or {}),
        "version": _VERSION,
        "title": model.title,
        "k": model.k,
        "parameters": model.as_json(),
        "inputs": [
            {"name": operand.name, "count": len(operand.terms), "format": _format(operand.format)}
            for operand in operands(model)
        ],
        "result": result,
        "words": table,
        **({"values": values.table, "stages": listed} if stages else {}),
    }
    flat = [part for parts in limbs for part in parts]
    programs = {"result": flat[: len(limbs[0])]} | ({"stages": flat} if stages else {})
    text = json.dumps(about, ensure_ascii=False, separators=(",", ":"))
    code = module(model.trace.inputs, programs, {SECTION: text.encode()})
    return UnitModule(code, json.loads(text), tuple(words.places))


class _Words:
    """The terms whose words the module gives, in their order."""

    def __init__(self) -> None:
        self.places: dict[Term, int] = {}

    def index(self, term: Term) -> int:
        """Return a term's place, which is the same every time."""
        return self.places.setdefault(term, len(self.places))


class _Values:
    """The table of values: each is there once, after those that it refers to."""

    def __init__(self, model: Model, words: _Words) -> None:
        self.table: list[dict[str, Any]] = []
        self._place: dict[tuple[int, Term | None], int] = {}
        self._words = words
        self._inputs = {term: place for place, term in enumerate(model.trace.inputs)}

    def index(self, value: Value, term: Term) -> int:
        """Return the place of a value; term: of the stage that holds it."""
        key = (id(value), term if isinstance(value, AnyFormat) else None)
        if key not in self._place:
            entry = self._entry(value, term)
            self._place[key] = len(self.table)
            self.table.append(entry)
        return self._place[key]

    def _entry(self, value: Value, term: Term) -> dict[str, Any]:
        word = self._words.index
        match value:
            case Number() as x:
                return {
                    "type": "number",
                    "sign": word(x.sign),
                    **self._exponent(x.exponent),
                    "significand": word(x.significand),
                    "fraction_bits": x.fraction_bits,
                    "zero": word(x.zero),
                    "infinite": word(x.infinite),
                    "nan": word(x.nan),
                    **({} if x.summed is None else {"summed": self.index(x.summed, term)}),
                    **self._depends(x.sign, x.exponent.term, x.significand),
                }
            case Exponent() as e:
                return {"type": "exponent", **self._exponent(e)}
            case Fixed() as x:
                origin = {} if x.source is None else {"source": self.index(x.source, term)}
                return {
                    "type": "fixed",
                    "word": word(x.word),
                    **self._exponent(x.exponent),
                    "fraction_bits": x.fraction_bits,
                    **origin,
                    "addends": [self.index(addend, term) for addend in x.addends],
                    **self._depends(x.word),
                }
            case SignMagnitude() as r:
                sign, magnitude = word(r.sign), word(r.magnitude)
                return {
                    "type": "sign_magnitude", "sign": sign, "magnitude": magnitude, **self._exponent(r.lsb),
                }  # fmt: skip
            case AnyFormat() as fmt:
                return {"type": "word", "word": word(term), "format": _format(fmt)}

    def _exponent(self, x: Exponent) -> dict[str, int]:
        return {"exponent": self._words.index(x.term), "low": x.low}

    def _depends(self, *terms: Term) -> dict[str, Any]:
        """Return the inputs below some terms, where they are few."""
        inputs = sorted(self._inputs[term] for term in variables(terms) if term in self._inputs)
        return {"inputs": inputs} if len(inputs) <= _FACTORS else {}


def _stage(stage: Stage, values: _Values) -> dict[str, Any]:
    lane = stage.lane
    return {
        "name": stage.name,
        "label": stage.label,
        "block": _place(stage.block),
        "kind": stage.kind.value,
        "lane": [lane.start, lane.stop] if isinstance(lane, range) else lane,
        "value": values.index(stage.value, stage.term),
        "term": _key(stage),
    }


def _place(block: Where) -> object:
    """Return a block as plain data: a number, or what its place is called, which says all of it."""
    return block if block is None or isinstance(block, int) else str(block)


def _key(stage: Stage) -> str | None:
    term = term_of(stage)
    if term is None:
        return None
    kind, inputs = term
    names = " ".join(sorted(str(x.data) for x in inputs))
    return blake2b(f"{kind.value}: {names}".encode(), digest_size=8).hexdigest()


def _format(fmt: AnyFormat) -> dict[str, Any]:
    return {"name": fmt.name, "width": fmt.width, **table_of_format(fmt)}


@cache
def _packaged(name: str) -> str:
    return files("tcsmt.interop.exports").joinpath(name).read_text(encoding="utf-8")


def unit_script() -> str:
    """Return the JavaScript that runs a module: a plain script, for a page."""
    return _packaged("unit.js")


def loader() -> str:
    """Return the same as an ECMAScript module, which loads the module beside it: dot.mjs loads dot.wasm."""
    return f"""{unit_script()}
/** The unit of the module beside this file. */
async function load() {{
  const url = new URL(import.meta.url.replace(/\\.mjs(?=[?#]|$)/, ".wasm"));
  if (url.protocol !== "file:") return Unit.load(await (await fetch(url)).arrayBuffer());
  const {{ readFile }} = await import("node:fs/promises");
  return Unit.load(await readFile(url));
}}

export {{ Unit, exact, load, toNumber, valueOf }};
"""


def declarations() -> str:
    """Return the loader's types, for TypeScript."""
    return _packaged("unit.d.ts")
