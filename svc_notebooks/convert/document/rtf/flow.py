"""Builds the flow of the body or of a note: runs become paragraphs, paragraphs cells, cells tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Node
from .blocks import Flow
from .state import CharacterFormat, ParagraphFormat, RtfParagraph, RtfRun
from .tables import CellDefinition, RowDefinition, RtfTable

_MAX_DEPTH = 8


@dataclass(slots=True)
class FlowBuilder:
    """What was told so far. Tables that are open are in `_tables`, the outermost first."""

    flow: Flow = field(default_factory=list)
    note: Node | None = None
    """The note whose text this is; None for the body."""
    rows: list[RowDefinition] = field(default_factory=lambda: [RowDefinition(), RowDefinition()])
    """The definitions of the next rows: of tables, and of nested tables."""
    _runs: list[RtfRun] = field(default_factory=list)
    _marker: str = ""
    _tables: list[RtfTable] = field(default_factory=list)

    @property
    def is_empty_note(self) -> bool:
        """Whether this is a note of which nothing was told yet."""
        return self.note is not None and not self.flow and not self._runs

    def add_text(self, character_format: CharacterFormat, text: str) -> None:
        """Letters."""
        self._runs.append(RtfRun(character_format, text))

    def add_node(self, node: Node) -> None:
        """A picture, a note, a place, a line break."""
        self._runs.append(RtfRun(CharacterFormat(), node=node))

    def add_marker(self, text: str) -> None:
        """What the file spells out as number or bullet of the paragraph."""
        self._marker += text

    def end_paragraph(self, paragraph_format: ParagraphFormat) -> None:
        """The paragraph is complete."""
        if self._runs or self._marker:
            self._flow_at(min(paragraph_format.tables, _MAX_DEPTH)).append(
                RtfParagraph(paragraph_format, self._runs, self._marker)
            )
        self._runs, self._marker = [], ""

    def end_cell(self, paragraph_format: ParagraphFormat, depth: int) -> None:
        """The cell of a table that is so deep in tables is complete."""
        depth = max(1, min(depth, _MAX_DEPTH))
        paragraph_format = ParagraphFormat(
            paragraph_format.style,
            -1,
            paragraph_format.left,
            paragraph_format.first,
            paragraph_format.list_id,
            paragraph_format.level,
            depth,
            paragraph_format.align,
            paragraph_format.rtl,
        )
        self.end_paragraph(paragraph_format)
        self._flow_at(depth)
        self._tables[-1].end_cell(paragraph_format.align)

    def end_row(self, depth: int) -> None:
        """The row is complete."""
        depth = max(1, min(depth, _MAX_DEPTH))
        self._flow_at(depth)
        self._tables[-1].end_row(self.rows[min(depth, 2) - 1])

    def finish(self, paragraph_format: ParagraphFormat) -> Flow:
        """All that was told."""
        self.end_paragraph(paragraph_format)
        self._flow_at(0)
        return self.flow

    def _flow_at(self, depth: int) -> Flow:
        """Where a paragraph so deep in tables belongs; tables that are deeper are complete."""
        while len(self._tables) > depth:
            table = self._tables.pop()
            table.end_row(self.rows[min(len(self._tables), 1)])
            (self._tables[-1].flow if self._tables else self.flow).append(table)
        while len(self._tables) < depth:
            self._tables.append(RtfTable())
        return self._tables[-1].flow if self._tables else self.flow

    # -- rows: what control words say of them

    def begin_row_definition(self, nested: bool) -> None:
        """Forget what was said of rows."""
        self.rows[nested] = RowDefinition()

    def add_cell_definition(self, nested: bool, cell: CellDefinition) -> None:
        """One more cell."""
        row = self.rows[nested]
        self.rows[nested] = RowDefinition(row.left, row.is_header, (*row.cells, cell))

    def set_row(self, nested: bool, *, left: int | None = None, is_header: bool = False) -> None:
        """Where the row begins; that it is repeated on each page."""
        row = self.rows[nested]
        self.rows[nested] = RowDefinition(row.left if left is None else left, row.is_header or is_header, row.cells)
