"""A model as a SystemVerilog module: combinational, or a pipeline with registers between the stages."""

from __future__ import annotations

from tcsmt.language.write.systemverilog import Body, body, range_of
from tcsmt.outside.exports.design import Design
from tcsmt.simulate.kernel_source import OperandArray

__all__ = ["latency", "systemverilog", "type_of"]


def systemverilog(design: Design, *, pipeline: bool = False) -> str:
    """Return the text of a file with one module.

    pipeline: with a register behind each stage, and a port ``clk``; the result is there after
    :func:`latency` clock edges, and a row can be given at each of them. There is no reset: nothing but
    the inputs decides the outputs.
    """
    made = _body(design, pipeline)
    lines = design.comment(lambda line: f"// {line}")
    if pipeline:
        lines.append(f"// latency: {made.latency} clock edges, one row at each")
    lines += ["", "// Words have bits that nothing depends on.", "/* verilator lint_off UNUSEDSIGNAL */"]
    ports = ["input  logic clk"] if pipeline else []
    ports += [f"input  logic {type_of(operand)}{operand.name}" for operand in design.inputs]
    ports.append(f"output logic {range_of(design.root.width)}d")
    lines.append(f"module {design.name} (")
    lines += [f"  {port}{',' if port is not ports[-1] else ''}" for port in ports]
    lines += [");", *_indented(made.functions)]
    for operand in design.inputs:
        if operand.name != "c":
            width = operand.format.width
            for place, term in enumerate(operand.terms):
                lines.append(f"  wire {range_of(width)}{term.data} = {operand.name}[{place}];")
    if made.registers:
        lines += _indented(made.registers)
    lines += _indented(made.nets)
    if made.transfers:
        lines += ["  always_ff @(posedge clk) begin", *(f"    {line}" for line in made.transfers), "  end"]
    (result,) = made.outputs
    lines += [f"  assign d = {result};", "endmodule", ""]
    return "\n".join(lines)


def latency(design: Design) -> int:
    """Clock edges from the inputs of a pipeline to its result."""
    return _body(design, True).latency


def _body(design: Design, pipeline: bool) -> Body:
    nodes = design.ordered([design.root])
    widths = sorted({node.width for node in nodes if node.op == "umax"})
    names = design.names(nodes, ["clk", *(f"max{width}" for width in widths)])
    stages = [node for node in nodes if node in design.stages]
    return body(nodes, [design.root], names, stages if pipeline else ())


def type_of(operand: OperandArray) -> str:
    """Return the type of an operand's port: one word for each lane, the first one in the lowest bits."""
    words = f"[{len(operand.terms) - 1}:0]" if operand.name != "c" else ""
    return f"{words}{range_of(operand.format.width) or ('[0:0] ' if words else '')}"


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
