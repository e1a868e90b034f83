"""Kernels of a model's own graph, for all words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tcsmt.language.graphs.limbs import fitted
from tcsmt.language.terms import FALSE, any_of, operands_first
from tcsmt.language.write.llvm import Emitter, native, schedule, uses_floats
from tcsmt.matrix_units.models import Model
from tcsmt.simulate.kernel_source import KernelSource, some, some_special, without_specials


class IntegerSource(KernelSource):
    """Kernels of the model's own graph, for all words.

    The graph without NaNs and infinities serves, unless some word of a vector's rows is one: then everything
    is read and computed once more.
    """

    def __init__(self, model: Model, vector: int) -> None:
        super().__init__(model, vector)
        ((self._root,),) = fitted([model.trace.output], native)
        (self._plain,) = without_specials([self._root], self.inputs)
        self._guard = any_of(some_special(operand.format, operand.terms) for operand in self.inputs)
        self.uses_floats = uses_floats(operands_first([self._root, self._plain, self._guard]))

    def rows(self) -> str:
        """Return a function ``rows`` over arrays (rows, lanes) in memory order."""
        return self._over_rows(lambda e: self._result(e, self._read_rows))

    def outer(self) -> str:
        """Return a function ``outer``: one vector of columns for each row, through several steps.

        A's words (and their scales) are the same in every column.
        """

        def write(e: Emitter, starts: Mapping[str, str]) -> str:
            (addend,) = (operand.terms[0] for operand in self.inputs if operand.name == "c")

            def read(e: Emitter) -> None:
                e.register[addend] = "%c.word"
                self._read_step(e, starts, ["c"])

            return self._result(e, read)

        return self._over_steps(write)

    def _result(self, e: Emitter, read: Callable[[Emitter], None]) -> str:
        """Return the result's register, in the block ``done``."""
        read(e)
        block, e.block = e.block, "done"
        e.run(schedule([self._plain, self._guard], self._lanes))
        # formats without special values have no guard: the plain graph is the whole one
        if self._guard is FALSE:
            e.lines += ["  br label %done", "done:"]
            return e.register[self._plain]
        nonzero = some(e, e.register[self._guard])
        again = e.fork("s", ".again")
        for operand in self.inputs:  # the same addresses, which LLVM does not know: nothing is kept
            pointer = f"%{operand.name}"
            again.lines.append(f'  {pointer}.again = call ptr asm sideeffect "", "=r,0"(ptr {pointer})')
        read(again)
        again.run(schedule([self._root], self._lanes))
        e.lines += [f"  br i1 {nonzero}, label %special, label %done", "special:", *again.lines]
        e.lines += ["  br label %done", "done:"]
        kind = e.type(e.container(self._result_width))
        registers = e.register[self._plain], again.register[self._root]
        return e.emit(f"phi {kind} [{registers[0]}, %{block}], [{registers[1]}, %special]")
