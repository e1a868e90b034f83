"""A sheet as an SVG that stands alone: a titled cell for each bit, light and dark by the reader's choice."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction
from xml.sax.saxutils import escape

from tcsmt.interface.pictures.drawing import (
    INTEGER_BITS,
    BitFate,
    BitGrid,
    BitRow,
    Blank,
    Cell,
    Listing,
    Note,
    Picture,
    Sheet,
    Table,
)
from tcsmt.matrix_units.arithmetic.formats import power_text

_CELL, _GAP, _LINE, _SPACE = 12, 34, 20, 6
#: Widths of a character: of text, small text and headings.
_CHARACTER, _SMALL_CHARACTER, _HEAD = 7.25, 6.05, 8.45
_MARGIN, _NARROWEST = 20, 860
_MOST_COLUMNS = 100
_RULER_STEP = 4

#: Colours of each class, light and dark: text or stroke, and fill.
_LIGHT = {
    "paper": "#ffffff", "ink": "#1b1f24", "faint": "#66707b", "window": "#eef3f8", "carry-zone": "#fdf3d3",
    "cut-zone": "#fdeceb", "kept": "#116329", "changed": "#8250df", "cut": "#c4231c", "sum": "#1b1f24",
    "carry": "#8a5a00", "leading": "#1b1f24", "rounded": "#0a50a8", "dropped": "#c4231c", "mark": "#c026d3",
}  # fmt: skip
_DARK = {
    "paper": "#0f141a", "ink": "#e6ebf1", "faint": "#94a0ad", "window": "#1c2530", "carry-zone": "#362d12",
    "cut-zone": "#3a1a1b", "kept": "#63d17c", "changed": "#c9a4ff", "cut": "#ff8078", "sum": "#e6ebf1",
    "carry": "#f2c14e", "leading": "#ffffff", "rounded": "#76b6ff", "dropped": "#ff8078", "mark": "#f07bff",
}  # fmt: skip
_FIXED_STYLE = (
    "text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}"
    ".bit{text-anchor:middle}.zero{opacity:.5}.head{font-weight:bold;font-size:14px}"
    ".small{font-size:10px}.middle{text-anchor:middle}.line{fill:none;stroke-width:1}"
    ".cut,.dropped{text-decoration:line-through}.leading,.carry,.changed{font-weight:bold}"
    ".box{fill:none;stroke-width:1.5}"
)


def as_svg(sheet: Sheet) -> str:
    """Return the sheet as an SVG document."""
    return _Drawing(sheet).document()


def _style() -> str:
    def rules(colours: dict[str, str]) -> str:
        lines = "".join(f".{name}{{fill:{colour}}}" for name, colour in colours.items())
        strokes = "".join(
            f".{cls}{{stroke:{colours[name]}}}"
            for cls, name in (("ruled", "faint"), ("around", "mark"), ("first", "leading"))
        )
        return lines + strokes

    return f"{_FIXED_STYLE}{rules(_LIGHT)}@media(prefers-color-scheme:dark){{{rules(_DARK)}}}"


class _Drawing:
    """Elements in drawing order, and how far down and right they reach."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.elements: list[str] = []
        self.y = _MARGIN
        self.right = _NARROWEST
        self.fates: set[BitFate] = set()
        self.columns = {
            (picture.group, place): sheet.columns(picture.group, place, _MOST_COLUMNS)
            for picture in sheet.pictures
            for place, panel in enumerate(picture.panels)
            if isinstance(panel, BitGrid)
        }
        rows = [row for p in sheet.pictures for g in p.panels if isinstance(g, BitGrid) for row in g.rows]
        self.left = _MARGIN + max([13, *(len(row.label) for row in rows)]) * _CHARACTER + 26
        notes = max((len(row.note) + 20 * row.parts for row in rows), default=0)
        for columns in self.columns.values():
            end = self.left + sum(map(_width, columns)) + 14 + notes * _CHARACTER
            self.right = max(self.right, int(end))
        self.right = max([self.right, *(int(_MARGIN + len(p.model) * _HEAD) for p in sheet.pictures)])
        tables = [t for p in sheet.pictures for t in p.panels if isinstance(t, Table)]
        self.right = max([self.right, *(int(_table_columns(t)[-1]) for t in tables)])

    def document(self) -> str:
        """Return the whole SVG."""
        for number, picture in enumerate(self.sheet.pictures):
            if number:
                self.y += _LINE
                self._rule(_MARGIN, self.right)
                self.y += _LINE // 2
            self._picture(picture)
        if self.sheet.difference:
            self.y += 4
            self._wrapped(self.sheet.difference, "mark")
        if self.fates:
            self._legend()
        width, height = self.right + _MARGIN, self.y + _MARGIN
        body = "\n".join(self.elements)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img">\n<title>{escape(self.sheet.name)}, bit by bit</title>\n'
            f"<style>{_style()}</style>\n"
            f'<rect class="paper" width="{width}" height="{height}"/>\n{body}\n</svg>\n'
        )

    # --- parts -----------------------------------------------------------------------------------

    def _picture(self, picture: Picture) -> None:
        self.y += 16
        self._text(_MARGIN, picture.model, "ink head")
        if picture is self.sheet.pictures[0] or picture.given != self.sheet.pictures[0].given:
            self._notes([Note(picture.given)])
        for place, panel in enumerate(picture.panels):
            self.y += 10
            if panel.title:
                self.y += _LINE
                self._text(_MARGIN, panel.title, "ink head")
            match panel:
                case Listing():
                    self._notes(panel.notes)
                case Table():
                    self._table(panel)
                case BitGrid():
                    self._grid(panel, self.columns[picture.group, place])
        self.y += 10
        self._notes(picture.results)

    def _notes(self, notes: Sequence[Note]) -> None:
        widest = max((len(note.label) for note in notes), default=0)
        indent = (widest + 2) * _CHARACTER if widest else 0
        for note in notes:
            if note.label:
                self._text(_MARGIN, note.label, "faint", self.y + _LINE)
            text = note.text + ("  ◄ first difference" if note.parts else "")
            self._wrapped(text, "mark" if note.parts else "ink", indent if note.label else 0)

    def _wrapped(self, text: str, classes: str, indent: float = 0) -> None:
        room = int((self.right - _MARGIN - indent) / _CHARACTER)
        for line in textwrap.wrap(text, room):
            self.y += _LINE
            self._text(_MARGIN + indent, line, classes)

    def _table(self, table: Table) -> None:
        """The sides beside each other; a step that a side does not have is a dash."""
        first, *starts, end = _table_columns(table)
        self.y += _LINE
        for side, start in zip(table.sides, starts[:: len(table.heads)], strict=True):
            self._text(start, side, "ink head")
        self.y += _LINE
        for head, start in zip(table.heads * len(table.sides), starts, strict=True):
            self._text(start, head, "faint small")
        self.y += 6
        self._rule(first, end)
        for line in table.lines:
            if line.parts:
                self.elements.append(
                    f'<rect class="carry-zone" x="{first - 4:g}" y="{self.y + 4}" '
                    f'width="{end - first + 8:g}" height="{_LINE}"/>'
                )
            self.y += _LINE
            self._text(
                first,
                line.label + ("  ◄ they first differ" if line.parts else ""),
                "mark" if line.parts else "ink",
            )
            cells = [
                cell for side in line.sides for cell in (side or ("–",) + ("",) * (len(table.heads) - 1))
            ]
            for cell, start in zip(cells, starts, strict=True):
                self._text(start, cell, "faint" if cell == "–" else "ink")
        self.y += 6
        self._notes(table.notes)

    def _grid(self, grid: BitGrid, columns: Sequence[int | Blank]) -> None:
        at: dict[int, float] = {}
        x = self.left
        ends: list[tuple[int, float]] = []  # lowest weight of each column, and where the column ends
        for column in columns:
            if not isinstance(column, Blank):
                at[column] = x
            x += _width(column)
            ends.append((_low(column), x))

        def edge(weight: int) -> float:
            """Return where the columns above ``2^weight`` end."""
            return max((end for low, end in ends if low > weight), default=self.left)

        head = self.y + 12
        self.y = head + 34
        bottom = self.y + len(grid.rows) * _LINE + _SPACE * bool(grid.terms) + 6
        zones = [
            ("carry-zone", edge(grid.high), edge(grid.top + INTEGER_BITS - 1), "carry"),
            ("window", edge(grid.top + INTEGER_BITS - 1), edge(grid.unit - 1), ""),
            ("cut-zone", edge(grid.unit - 1), x, "cut off"),
        ]
        titles: list[tuple[float, str]] = []
        for name, start, end, title in zones:
            if end > start:
                self.elements.append(
                    f'<rect class="{name}" x="{start:g}" y="{head + 4}" width="{end - start:g}" '
                    f'height="{bottom - head - 4}"/>'
                )
                titles.append((start, title))
        titles.append((edge(grid.top - 1), f"{grid.top - grid.unit} fraction bits"))
        free = 0.0  # a zone of few columns moves the next title to the right, so that none covers another
        for start, title in sorted(titles):
            if title:
                place = max(start + 1, free)
                self._text(place, title, "faint small", head)
                free = place + len(title) * _SMALL_CHARACTER + 4
        self._text(_MARGIN, "relative", "faint small", head + 15)
        self._text(_MARGIN, "power of two", "faint small", head + 29)
        for weight, start in at.items():
            if (grid.top - weight) % _RULER_STEP == 0:
                middle = start + _CELL / 2
                offset = f"{weight - grid.top:+d}" if weight != grid.top else "0"
                self._text(middle, offset, "faint small middle", head + 15)
                self.elements.append(
                    f'<text class="faint small middle" x="{middle:g}" y="{head + 30}">2'
                    f'<tspan dy="-4" style="font-size:8px">{weight}</tspan></text>'
                )
        for number, row in enumerate(grid.rows):
            if number == len(grid.terms) and number:
                self._rule(_MARGIN, x, self.y + 8)
                self.y += _SPACE
            self._row(row, columns, at, x)
        point = edge(grid.top - 1)
        self._vertical(point, head + 34, bottom, "2,3")
        for place in (edge(grid.top + INTEGER_BITS - 1), edge(grid.unit - 1)):
            self._vertical(place, head + 34, bottom, "")
        self.y = int(bottom) + 2
        self._notes(grid.notes)

    def _row(self, row: BitRow, columns: Sequence[int | Blank], at: dict[int, float], end: float) -> None:
        self.y += _LINE
        self._text(_MARGIN, row.label, "ink")
        self._text(self.left - 16, "−" if row.negative else "+", "ink")
        for cell in row.cells:
            if cell.weight in at:
                self._cell(row, cell, at[cell.weight])
        x = self.left
        for column in columns:
            if isinstance(column, Blank) and any(column.low <= c.weight <= column.high for c in row.cells):
                hidden = [c for c in row.cells if column.low <= c.weight <= column.high]
                name = hidden[-1].fate.name.lower()
                self._text(x + _GAP / 2, "⋯", f"{name} middle")
            x += _width(column)
        for weight in row.marks:
            if weight in at:
                self.elements.append(
                    f'<rect class="box around" x="{at[weight] + 0.5:g}" y="{self.y - 14}" '
                    f'width="{_CELL - 1}" height="18"/>'
                )
        note = row.note + ("  ◄ first difference" if row.parts else "")
        self._text(end + 10, note, "mark" if row.parts else "faint")

    def _cell(self, row: BitRow, cell: Cell, x: float) -> None:
        self.fates.add(cell.fate)
        weight = power_text(Fraction(2) ** cell.weight)
        hover = f"{row.label}: bit {cell.bit} of weight {weight}, {cell.fate.value}"
        zero = "" if cell.bit or cell.fate is BitFate.LEADING else " zero"
        self.elements.append(
            f'<g><title>{escape(hover)}</title><text class="bit {cell.fate.name.lower()}{zero}" '
            f'x="{x + _CELL / 2:g}" y="{self.y}">{cell.bit}</text></g>'
        )
        if cell.fate is BitFate.LEADING:
            self.elements.append(
                f'<rect class="box first" x="{x + 0.5:g}" y="{self.y - 14}" width="{_CELL - 1}" height="18" '
                f'rx="3"/>'
            )

    def _legend(self) -> None:
        self.y += 34
        x: float = _MARGIN
        for fate in BitFate:
            if fate not in self.fates:
                continue
            width = 26 + len(fate.value) * 6.1
            if x + width > self.right:
                x, self.y = _MARGIN, self.y + _LINE
            self._text(x, "1", f"bit {fate.name.lower()}")
            self._text(x + 10, fate.value, "faint small")
            x += width

    # --- strokes ---------------------------------------------------------------------------------

    def _text(self, x: float, text: str, classes: str, y: float | None = None) -> None:
        if text:
            place = self.y if y is None else y
            self.elements.append(f'<text class="{classes}" x="{x:g}" y="{place:g}">{escape(text)}</text>')

    def _rule(self, start: float, end: float, y: float | None = None) -> None:
        place = self.y if y is None else y
        self.elements.append(f'<path class="line ruled" d="M{start:g} {place:g}H{end:g}"/>')

    def _vertical(self, x: float, top: float, bottom: float, dashes: str) -> None:
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.elements.append(f'<path class="line ruled" d="M{x:g} {top:g}V{bottom:g}"{dashed}/>')


def _table_columns(table: Table) -> list[float]:
    """Return where the steps' names, every cell of every side, and the end of a table are."""
    rows = [("", *table.heads * len(table.sides))]
    for line in table.lines:
        label = line.label + "  ◄ they first differ" * line.parts
        rows.append((label, *(cell for side in line.sides for cell in side or ("",) * len(table.heads))))
    places: list[float] = [_MARGIN]
    for number, column in enumerate(zip(*rows, strict=True)):
        last = number % len(table.heads) == 0
        places.append(places[-1] + (max(map(len, column)) + (4 if last else 2)) * _CHARACTER)
    return places


def _width(column: int | Blank) -> int:
    return _GAP if isinstance(column, Blank) else _CELL


def _low(column: int | Blank) -> int:
    return column.low if isinstance(column, Blank) else column
