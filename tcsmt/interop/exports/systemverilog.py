"""A model as a SystemVerilog module, and a test bench for it.

The module is combinational, or a pipeline with registers between the stages. The test bench reads rows from a
file, and checks every result itself.
"""

from __future__ import annotations

from tcsmt.interop.exports.design import Design
from tcsmt.language.write.systemverilog import Body, body, range_of
from tcsmt.simulate.kernel_source import OperandArray


def systemverilog(design: Design, *, pipeline: bool = False) -> str:
    """Return the text of a file with one module.

    pipeline: with a register behind each stage, and a port ``clk``; the result is there after
    :func:`latency` clock edges, and a row can be given at each of them. There is no reset: nothing but
    the inputs decides the outputs.
    """
    text = _body(design, pipeline)
    lines = design.comment(lambda line: f"// {line}")
    if pipeline:
        lines.append(f"// latency: {text.latency} clock edges, one row at each")
    lines += ["", "// Words have bits that nothing depends on.", "/* verilator lint_off UNUSEDSIGNAL */"]
    ports = ["input  logic clk"] if pipeline else []
    ports += [f"input  logic {type_of(operand)}{operand.name}" for operand in design.inputs]
    ports.append(f"output logic {range_of(design.root.width)}d")
    lines.append(f"module {design.name} (")
    lines += [f"  {port}{',' if port is not ports[-1] else ''}" for port in ports]
    lines += [");", *_indented(text.functions)]
    for operand in design.inputs:
        if operand.name != "c":
            width = operand.format.width
            for place, term in enumerate(operand.terms):
                lines.append(f"  wire {range_of(width)}{term.data} = {operand.name}[{place}];")
    if text.registers:
        lines += _indented(text.registers)
    lines += _indented(text.nets)
    if text.transfers:
        lines += ["  always_ff @(posedge clk) begin", *(f"    {line}" for line in text.transfers), "  end"]
    (result,) = text.outputs
    lines += [f"  assign d = {result};", "endmodule", ""]
    return "\n".join(lines)


def latency(design: Design) -> int:
    """Return the clock edges from the inputs of a pipeline to its result."""
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


def bench(design: Design, *, pipeline: bool = False) -> str:
    """Return the text of a file with the module ``NAME_tb``.

    It reads the file ``+vectors=FILE`` (``NAME.mem`` by default; see
    :mod:`tcsmt.matrix_units.files.word_files`), and ends with ``$fatal`` where a result is not the file's, or
    where the file has no rows. pipeline: as it was for the module.
    """
    name, edges = design.name, latency(design) if pipeline else 0
    formats = {**design.model.input_formats, "d": design.model.d_format}
    place = sum(fmt.width for fmt in formats.values())
    width = -(-place // 4) * 4
    slices = {}
    for field, fmt in formats.items():
        slices[field] = f"word[{place - 1}:{place - fmt.width}]"
        place -= fmt.width
    ports = [".clk(clk)"] if pipeline else []
    ports += [f".{operand.name}({operand.name})" for operand in design.inputs] + [".d(d)"]
    lines = [
        f"// A test bench for {name}. A row of +vectors=FILE is one number: from the highest bits on,",
        f"// {' '.join(formats)}",
        "/* verilator lint_off UNUSEDSIGNAL */",
        "/* verilator lint_off BLKSEQ */",
        f"module {name}_tb;",
        "  parameter ROWS = 65536;  // at most",
        f"  localparam LATENCY = {edges};  // clock edges from a row to its result",
        f"  logic [{width}:0] vectors [0:ROWS-1];  // with a bit that says that the file has no such row",
        f"  logic [{width}:0] word;",
        "  string file;",
        "  integer rows, row, ready;",
        "  integer shown = 0, agreed = 0;",
        "  logic clk = 0, check = 0;",
    ]
    for operand in design.inputs:
        words = ", ".join(slices[str(term.data)] for term in reversed(operand.terms))
        lines += [
            f"  logic {type_of(operand)}{operand.name};",
            f"  assign {operand.name} = {{{words}}};",
        ]
    high = design.root.width - 1
    lines += [
        f"  wire [{high}:0] d;",
        f"  logic [{high}:0] expected;",
        f"  {name} unit ({', '.join(ports)});",
        "  // Rows that agree are counted, not those that differ, and in a process of their own,",
        "  // as Verilator 5.006 takes a counter of the loop below to be still 0 behind it.",
        "  always @(posedge check)",
        "    if (d === expected) agreed <= agreed + 1;",
        "    else begin",
        "      shown <= shown + 1;",
        "      if (shown < 10)",
        '        $display("row %0d: d = %h, expected %h; row: %h",',
        "          ready, d, expected, vectors[ready]);",
        "    end",
        "  initial begin",
        f'    if (!$value$plusargs("vectors=%s", file)) file = "{name}.mem";',
        f"    for (row = 0; row < ROWS; row = row + 1) vectors[row] = {{1'b1, {width}'h0}};",
        "    $readmemh(file, vectors);",
        "    rows = 0;",
        f"    while (rows < ROWS && vectors[rows < ROWS ? rows : 0][{width}] == 1'b0) rows = rows + 1;",
        "    word = vectors[0];",
        "    for (row = 0; row < rows + (LATENCY > 0 ? LATENCY - 1 : 0); row = row + 1) begin",
        "      if (row < rows) word = vectors[row];",
        "      #1;",
        "      clk = 1;",
        "      #1;",
        "      ready = row - (LATENCY > 0 ? LATENCY - 1 : 0);",
        "      if (ready >= 0) begin",
        f"        expected = vectors[ready][{high}:0];",
        "        check = 1;",
        "      end",
        "      #1;",
        "      check = 0;",
        "      clk = 0;",
        "      #1;",
        "    end",
        f'    $display("{name}: %0d rows, %0d mismatches", rows, rows - agreed);',
        "    if (rows == 0 || agreed != rows) $fatal(1);",
        "    $finish;",
        "  end",
        "endmodule",
        "",
    ]
    return "\n".join(lines)
