"""The text of the body or of a note as it is told: runs become paragraphs, paragraphs cells, cells tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Node
from .blocks import Flow
from .state import CharacterFormat, RtfParagraph, RtfRun, Shape
from .tables import CellShape, RowShape, RtfTable

_DEEPEST = 8


@dataclass(slots=True)
class FlowBuilder:
    """What was told so far. Tables that are open are in `_tables`, the outermost first."""

    flow: Flow = field(default_factory=list)
    note: Node | None = None
    """The note whose text this is; None for the body."""
    rows: list[RowShape] = field(default_factory=lambda: [RowShape(), RowShape()])
    """What is said of the rows to come: of tables, and of tables in tables."""
    _runs: list[RtfRun] = field(default_factory=list)
    _marker: str = ""
    _tables: list[RtfTable] = field(default_factory=list)

    @property
    def silent(self) -> bool:
        """Whether this is a note of which nothing was told yet."""
        return self.note is not None and not self.flow and not self._runs

    def say(self, look: CharacterFormat, text: str) -> None:
        """Letters."""
        self._runs.append(RtfRun(look, text))

    def show(self, node: Node) -> None:
        """A picture, a note, a place, a line break."""
        self._runs.append(RtfRun(CharacterFormat(), node=node))

    def mark(self, text: str) -> None:
        """What the file spells out as number or bullet of the paragraph."""
        self._marker += text

    def end_paragraph(self, shape: Shape) -> None:
        """The paragraph is complete."""
        if self._runs or self._marker:
            self._place(min(shape.tables, _DEEPEST)).append(RtfParagraph(shape, self._runs, self._marker))
        self._runs, self._marker = [], ""

    def end_cell(self, shape: Shape, depth: int) -> None:
        """The cell of a table that is so deep in tables is complete."""
        depth = max(1, min(depth, _DEEPEST))
        shape = Shape(
            shape.style, -1, shape.left, shape.first, shape.list_id, shape.level, depth, shape.align, shape.rtl
        )
        self.end_paragraph(shape)
        self._place(depth)
        self._tables[-1].end_cell(shape.align)

    def end_row(self, depth: int) -> None:
        """The row is complete."""
        depth = max(1, min(depth, _DEEPEST))
        self._place(depth)
        self._tables[-1].end_row(self.rows[min(depth, 2) - 1])

    def end(self, shape: Shape) -> Flow:
        """All that was told."""
        self.end_paragraph(shape)
        self._place(0)
        return self.flow

    def _place(self, depth: int) -> Flow:
        """Where a paragraph so deep in tables belongs; tables that are deeper are complete."""
        while len(self._tables) > depth:
            table = self._tables.pop()
            table.end_row(self.rows[min(len(self._tables), 1)])
            (self._tables[-1].flow if self._tables else self.flow).append(table)
        while len(self._tables) < depth:
            self._tables.append(RtfTable())
        return self._tables[-1].flow if self._tables else self.flow

    # -- rows: what control words say of them

    def begin_row_shape(self, nested: bool) -> None:
        """Forget what was said of rows."""
        self.rows[nested] = RowShape()

    def add_cell_shape(self, nested: bool, cell: CellShape) -> None:
        """One more cell."""
        row = self.rows[nested]
        self.rows[nested] = RowShape(row.left, row.heads, (*row.cells, cell))

    def set_row(self, nested: bool, *, left: int | None = None, heads: bool = False) -> None:
        """Where the row begins; that it is repeated on each page."""
        row = self.rows[nested]
        self.rows[nested] = RowShape(row.left if left is None else left, row.heads or heads, row.cells)
