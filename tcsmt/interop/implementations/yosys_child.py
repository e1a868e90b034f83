"""The process in which Yosys reads a design: ``python yosys_child.py REQUEST REPLY BTOR2``.

REQUEST is a JSON file: ``arguments`` (words for the reader), ``top``, ``output``. REPLY
becomes a JSON file with what is wrong with the design (``problems``), BTOR2 the design if nothing is.
An error of Yosys ends the process, so that it has one of its own. It is run as a file, so that it imports
pyosys and nothing of this package.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

#: Cells that hold a value without a clock.
_LATCHES = ("$dlatch", "$adlatch", "$dlatchsr", "$sr")
#: The attribute, of a latch that stands for a variable's previous value, which names the variable.
_PREVIOUS = "\\previous"
#: Passes that do not choose a value for a don't-care, nor a register's first value: whether the result
#: depends on one is asked later. The second removes branches that cannot be taken.
_SIMPLER = ("opt_expr -keepdc", "opt_muxtree", "opt_expr -keepdc", "opt_clean")
#: As simulators do: without the macro SYNTHESIS, and with what comments would switch off.
_READING = "--no-proc --dump-ast --no-synthesis-define --no-default-translate-off-format"
#: Bits that a part-select takes from beyond a vector are x; the cell for it would give zeros.
_BEYOND = r"""
(* techmap_celltype = "$shiftx" *)
module beyond (A, B, Y);
  parameter A_SIGNED = 0, B_SIGNED = 0, A_WIDTH = 1, B_WIDTH = 1, Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;
  wire [Y_WIDTH-1:0] value, inside;
  \$shift #(.A_SIGNED(0), .B_SIGNED(B_SIGNED), .A_WIDTH(A_WIDTH), .B_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH))
    chosen (.A(A), .B(B), .Y(value)),
    known (.A({A_WIDTH{1'b1}}), .B(B), .Y(inside));
  genvar i;
  generate for (i = 0; i < Y_WIDTH; i = i + 1) begin : bits
    assign Y[i] = inside[i] ? value[i] : 1'bx;
  end endgenerate
endmodule
"""
#: Of a memory that is read as registers.
_WORDS = 64
#: Of a kind of problem, how many are told.
_MOST = 3


def main(request: Path, reply: Path, written: Path) -> None:
    """Read, check, write."""
    from pyosys import libyosys as ys

    options = json.loads(request.read_text(encoding="utf-8"))
    design = ys.Design()

    def run(command: str, *words: str) -> None:
        """Run a pass on words, so that no name of a file is read as a part of a script."""
        ys.Pass.call(design, [*command.split(), *words])

    run(f"read_slang {_READING}", *options["arguments"])
    top = options["top"]
    run("hierarchy -check", *(("-top", top) if top else ("-auto-top",)))
    problems = black_boxes(design)
    if problems:
        reply.write_text(json.dumps({"problems": problems}), encoding="utf-8")
        return
    blocks = {module.name.str(): combinational(module) for module in design.modules_.values()}
    top_module = design.top_module()
    sources = {
        "places": {plain(wire.name): place(wire) for wire in top_module.wires_.values()},
        "blocks": [place(process) for _, process in sorted(numbered(top_module.processes))],
    }
    run("proc -norom -noopt")
    for module in design.modules_.values():
        hold_previous(module, blocks[module.name.str()])
    run("flatten")
    beyond = reply.with_suffix(".v")
    beyond.write_text(_BEYOND, encoding="utf-8")
    run("techmap -autoproc -map", str(beyond))
    module = design.top_module()
    ports = [wire for wire in module.wires_.values() if wire.port_output]
    names = [plain(wire.name) for wire in ports]
    all_registers = registers(module)
    if not set(options["cut"]) <= set(all_registers):
        reply.write_text(json.dumps({"problems": [], "registers": all_registers}), encoding="utf-8")
        return
    cut = [wire for wire in module.wires_.values() if plain(wire.name) in options["cut"]]
    names += [plain(wire.name) for wire in cut]
    output = max((name for name in names if leads(options["output"], name)), key=len, default=None)
    if output is None:
        reply.write_text(json.dumps({"problems": [], "outputs": names}), encoding="utf-8")
        return
    unwritable = [wire for wire in module.wires_.values() if ";" in plain(wire.name) and named(wire)]
    if unwritable:  # a comment of BTOR2 begins there, and the rest of the name would be another's
        problems = [f"{place(wire)}: {plain(wire.name)}: a name with a semicolon" for wire in unwritable]
        reply.write_text(json.dumps({"problems": problems[:_MOST]}), encoding="utf-8")
        return
    for wire in ports:
        wire.port_output = plain(wire.name) == output
    keep = ys.IdString("\\keep")
    for wire in cut:  # what is an output is neither optimised away nor renamed
        wire.port_output = True
        wire.set_bool_attribute(keep)
    module.fixup_ports()
    for command in ("chformal -remove", *_SIMPLER, "memory_collect", "opt_clean"):
        run(command)
    problems = memories(module)
    if problems:
        reply.write_text(json.dumps({"problems": problems}), encoding="utf-8")
        return
    for command in ("memory_map", *_SIMPLER):
        run(command)
    told = reply.with_suffix(".check")
    run("tee -q -o", str(told), "check")
    problems = [*latches(module), *loops(told.read_text(encoding="utf-8")), *clocks(module)]
    if not problems:
        for command in ("async2sync", "dffunmap", *_SIMPLER):
            run(command)
        run("write_btor -x", str(written))
    told_all = {"problems": problems, "top": plain(module.name), "output": output, **sources}
    reply.write_text(json.dumps(told_all), encoding="utf-8")


def leads(path: str, name: str) -> bool:
    """Return whether a path, of a name and perhaps of selects, begins with a name."""
    return path == name or path.startswith((f"{name}[", f"{name}."))


def plain(name: Any) -> str:
    """Return a name as the source has it."""
    return str(name.str()).removeprefix("\\")


def named(wire: Any) -> bool:
    """Return whether the source has given the name, and not Yosys."""
    return bool(wire.name.str().startswith("\\"))


def numbered(processes: Any) -> list[tuple[int, Any]]:
    """Return processes, by the numbers in their names, which are in the order of the source."""
    return [(int(plain(process.name).removeprefix("$")), process) for process in processes.values()]


def place(cell: Any) -> str:
    """Return ``FILE:LINE`` of a cell's source, the first one."""
    match = re.match(r"(.*?:\d+)", str(cell.get_src_attribute()))
    return match[1] if match else ""


def black_boxes(design: Any) -> list[str]:
    """Return instances of modules that have no body."""
    from pyosys import libyosys as ys

    cells = []
    for module in design.modules_.values():
        for cell in module.cells_.values():
            kind = design.module(cell.type)
            if kind is not None and kind.get_bool_attribute(ys.IdString("\\blackbox")):
                cells.append(f"{place(cell)}: {plain(cell.name)} is a black box ({plain(cell.type)})")
    return cells[:_MOST]


def combinational(module: Any) -> dict[str, str]:
    """Return, for ``$buf`` cells with which combinational blocks assign variables, where a block starts.

    Called before ``proc``. Objects are numbered in the order of the source, a block before its own. A
    continuous assignment is a ``$buf``, too; after a block with a clock, which has none, it stays out.
    """
    starts = {
        int(plain(process.name).removeprefix("$")): position(process) for process in module.processes.values()
    }
    clocked = set()
    if all(file for file, _ in starts.values()):  # a block of a macro has no position
        for cell in module.cells_.values():
            if "dff" in cell.type.str():
                file, at = position(cell)
                clocked.add(
                    min(
                        (process for process in starts.values() if process[0] == file and process[1] >= at),
                        default=None,
                    )
                )
    assigns = {
        int(match[1]): cell.name.str()
        for cell in module.cells_.values()
        if cell.type.str() == "$buf" and (match := re.match(r"\$(\d+)$", cell.name.str()))
    }
    result = {}
    block = None
    for key in sorted({*starts, *assigns}):
        if key in starts:
            block = starts[key]
        elif block is not None:
            if block not in clocked:
                result[assigns[key]] = f"{block[0]}:{block[1][0]}" if block[0] else ""
            block = None
    return result


def position(thing: Any) -> tuple[str, tuple[int, int]]:
    """Return file, line and column of where a source starts."""
    match = re.match(r"(.*?):(\d+)\.(\d+)", str(thing.get_src_attribute()))
    return (match[1], (int(match[2]), int(match[3]))) if match else ("", (0, 0))


def hold_previous(module: Any, blocks: dict[str, str]) -> None:
    """Read from latches the variables that a combinational block reads before it assigns them.

    Simulators give such a read the previous value; the circuit has the one that is assigned later. What a
    block has assigned it reads from wires without a name, so that a bit of a variable of its own at which
    these end is read before. blocks: of :func:`combinational`.
    """
    from pyosys import libyosys as ys

    joined, drivers = connections(module), combinational_drivers(module)
    for name, start in blocks.items():
        last = module.cell(ys.IdString(name))
        output_bits = {key(bit) for bit in last.getPort(ys.IdString("\\Y")).bits()}
        seen, waiting = {name}, [last]
        while waiting:
            cell = waiting.pop()
            for port, signal in list(cell.connections_.items()):
                if not cell.input(port):
                    continue
                read = ys.SigSpec()
                for written in signal.bits():
                    bit = written
                    while bit.is_wire() and key(bit) in joined:
                        bit = joined[key(bit)]
                    before = bit.is_wire() and key(bit) in output_bits
                    read.append(latch(module, bit, place(cell) or start) if before else written)
                    driver = drivers.get(key(bit)) if is_unnamed(bit) else None
                    if driver is not None and driver.name.str() not in seen:
                        seen.add(driver.name.str())
                        waiting.append(driver)
                cell.setPort(port, read)


def key(bit: Any) -> tuple[str, int]:
    """Return a bit of a wire, by the wire's name and its place there."""
    return bit.wire.name.str(), bit.offset


def is_unnamed(bit: Any) -> bool:
    """Return whether it is of a wire that the source has no name for."""
    return bool(bit.is_wire()) and bit.wire.name.str().startswith("$")


def connections(module: Any) -> dict[tuple[str, int], Any]:
    """Return what each bit of a wire is joined to."""
    return {
        key(to): bit
        for left, right in module.connections_
        for to, bit in zip(left.bits(), right.bits(), strict=True)
        if to.is_wire()
    }


def combinational_drivers(module: Any) -> dict[tuple[str, int], Any]:
    """Return the cell that drives each bit, but for flip-flops and latches."""
    drivers: dict[tuple[str, int], Any] = {}
    for cell in module.cells_.values():
        if not any(part in cell.type.str() for part in ("dff", "latch")):
            for port, signal in cell.connections_.items():
                if cell.output(port):
                    drivers.update((key(bit), cell) for bit in signal.bits() if bit.is_wire())
    return drivers


def latch(module: Any, bit: Any, where: str) -> Any:
    """Return the bit of a latch that stands for what a variable's bit was before."""
    from pyosys import libyosys as ys

    wire = module.addWire(module.uniquify(ys.IdString("$before")), 1)
    zero = ys.SigSpec(ys.Const(0, 1))
    cell = module.addSr(module.uniquify(ys.IdString("$previous")), zero, zero, ys.SigSpec(wire))
    cell.set_src_attribute(where or place(bit.wire))
    cell.set_string_attribute(ys.IdString(_PREVIOUS), plain(bit.wire.name))
    return ys.SigBit(wire, 0)


def registers(module: Any) -> list[str]:
    """Return the wires that are registers."""
    from pyosys import libyosys as ys

    names = []
    for cell in module.cells_.values():
        if "dff" in cell.type.str() and cell.hasPort(ys.IdString("\\Q")):
            signal = cell.getPort(ys.IdString("\\Q"))
            if signal.is_wire():
                names.append(plain(signal.as_wire().name))
    return names


def memories(module: Any) -> list[str]:
    """Return memories of many words; those of few are registers."""
    from pyosys import libyosys as ys

    names = []
    for cell in module.cells_.values():
        if cell.type.str().startswith("$mem"):
            words = cell.getParam(ys.IdString("\\SIZE")).as_int()
            if words > _WORDS:
                name = f"{plain(cell.name)} is a memory of {words} words"
                names.append(f"{place(cell)}: {name}; up to {_WORDS} are read as registers")
    return names[:_MOST]


def latches(module: Any) -> list[str]:
    """Return what holds a value without a clock."""
    from pyosys import libyosys as ys

    faults = []
    for cell in module.cells_.values():
        if cell.type.str() in _LATCHES:
            variable = cell.get_string_attribute(ys.IdString(_PREVIOUS))
            if variable:
                fault = (
                    f"{variable} is read in this block before it is assigned: its previous value would matter"
                )
            else:
                fault = "a latch; only registers with a clock are supported"
            faults.append(f"{place(cell)}: {fault}")
        elif "aldff" in cell.type.str() and not cell.getPort(ys.IdString("\\AD")).is_fully_const():
            # simulators load it at the edge alone
            faults.append(f"{place(cell)}: an asynchronous load of what is not constant is not supported")
    return [*dict.fromkeys(faults)][:_MOST]


def loops(told: str) -> list[str]:
    """Return combinational loops and wires with several drivers, as the check pass tells them."""
    faults = []
    for part in told.split("Warning: ")[1:]:
        first, *lines = part.splitlines()
        where = re.search(r"source: (.*?:\d+)", "\n".join(lines))
        start = f"{where[1]}: " if where else ""
        if first.startswith("found logic loop"):
            wires = re.findall(r"wire \\(\S+)", part)
            faults.append(f"{start}a combinational loop" + (f" through {wires[0]}" if wires else ""))
        elif "conflicting drivers" in first:
            wire = re.search(r"for \S+?\.\\(\S+?)(?= |:|$)", first)
            faults.append(f"{start}several drivers of one wire" + (f": {wire[1]}" if wire else ""))
    return [*dict.fromkeys(faults)][:_MOST]


def clocks(module: Any) -> list[str]:
    """Return what is wrong where there is more than one clock, or edge."""
    from pyosys import libyosys as ys

    seen: dict[str, str] = {}
    for cell in module.cells_.values():
        if "dff" in cell.type.str() and cell.hasPort(ys.IdString("\\CLK")):
            signal = cell.getPort(ys.IdString("\\CLK"))
            name = plain(signal.as_wire().name) if signal.is_wire() else "an expression"
            if not (signal.is_wire() and signal.as_wire().port_input):
                return [f"{place(cell)}: the clock, {name}, is not an input of the module"]
            edge = cell.getParam(ys.IdString("\\CLK_POLARITY")).as_bool()
            seen.setdefault(f"{'rising' if edge else 'falling'} {name}", place(cell))
    if len(seen) < 2:
        return []
    listed = " and ".join(f"{clock} ({where})" for clock, where in seen.items())
    return [f"{next(iter(seen.values()))}: several clocks: {listed}"]


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
