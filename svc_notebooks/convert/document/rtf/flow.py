"""Builds the paragraphs and tables of the body or of a note."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..model import Node
from .blocks import Flow
from .state import ParagraphFormat, RtfParagraph, RtfRun
from .tables import RowDefinition, RtfTable

_MAX_DEPTH = 8


@dataclass(slots=True)
class FlowBuilder:
    """The flow read so far. `tables` are the open tables, the outermost first."""

    flow: Flow = field(default_factory=list)
    note: Node | None = None
    """The note that this text belongs to, or None for the body."""
    rows: list[RowDefinition] = field(default_factory=lambda: [RowDefinition(), RowDefinition()])
    """The definitions of the next rows: of tables, and of nested tables."""
    runs: list[RtfRun] = field(default_factory=list)
    marker: str = ""
    tables: list[RtfTable] = field(default_factory=list)

    @property
    def is_empty_note(self) -> bool:
        """True for a note without any text yet."""
        return self.note is not None and not self.flow and not self.runs

    def end_paragraph(self, paragraph_format: ParagraphFormat) -> None:
        """Add the runs since the last paragraph as one."""
        if self.runs or self.marker:
            paragraph = RtfParagraph(paragraph_format, self.runs, self.marker)
            self._flow_at(min(paragraph_format.tables, _MAX_DEPTH)).append(paragraph)
        self.runs, self.marker = [], ""

    def end_cell(self, paragraph_format: ParagraphFormat, depth: int) -> None:
        """Add the paragraphs since the last cell as one, in the table at this depth of nesting."""
        depth = max(1, min(depth, _MAX_DEPTH))
        self.end_paragraph(replace(paragraph_format, outline=-1, tables=depth))
        self._flow_at(depth)
        self.tables[-1].end_cell(paragraph_format.align)

    def end_row(self, depth: int) -> None:
        """Add the cells since the last row as one, in the table at this depth of nesting."""
        depth = max(1, min(depth, _MAX_DEPTH))
        self._flow_at(depth)
        self.tables[-1].end_row(self.rows[min(depth, 2) - 1])

    def finish(self, paragraph_format: ParagraphFormat) -> Flow:
        """End the last paragraph and all tables, and return the flow."""
        self.end_paragraph(paragraph_format)
        return self._flow_at(0)

    def _flow_at(self, depth: int) -> Flow:
        """Return the flow at a depth of nesting, after ending deeper tables and beginning missing ones."""
        while len(self.tables) > depth:
            table = self.tables.pop()
            table.end_row(self.rows[min(len(self.tables), 1)])
            (self.tables[-1].flow if self.tables else self.flow).append(table)
        while len(self.tables) < depth:
            self.tables.append(RtfTable())
        return self.tables[-1].flow if self.tables else self.flow
