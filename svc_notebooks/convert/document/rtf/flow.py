"""Collects the paragraphs and tables of the document body or of a footnote."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..model import Node
from .blocks import Flow
from .state import ParagraphFormat, RtfParagraph, RtfRun
from .tables import RowDefinition, RtfTable

_MAX_DEPTH = 8


@dataclass(slots=True)
class FlowBuilder:
    """Collects paragraphs and tables in `flow`. The open paragraph is in `runs` and `marker`."""

    flow: Flow = field(default_factory=list)
    note: Node | None = None
    """The footnote node that contains this text, or None for the document body."""
    rows: list[RowDefinition] = field(default_factory=lambda: [RowDefinition(), RowDefinition()])
    """Two row definitions, for the next row of an outer table and for the next row of a nested table."""
    runs: list[RtfRun] = field(default_factory=list)
    marker: str = ""
    tables: list[RtfTable] = field(default_factory=list)

    @property
    def is_empty_note(self) -> bool:
        """True if the builder collects a footnote that has no text so far."""
        return self.note is not None and not self.flow and not self.runs

    def end_paragraph(self, paragraph_format: ParagraphFormat) -> None:
        """End the open paragraph, and add it to the flow or to the open table cell. An empty paragraph is ignored."""
        if self.runs or self.marker:
            paragraph = RtfParagraph(paragraph_format, self.runs, self.marker)
            self._flow_at(min(paragraph_format.tables, _MAX_DEPTH)).append(paragraph)
        self.runs, self.marker = [], ""

    def end_cell(self, paragraph_format: ParagraphFormat, depth: int) -> None:
        """End the open cell of the table at a nesting depth (1 for an outer table)."""
        depth = max(1, min(depth, _MAX_DEPTH))
        self.end_paragraph(replace(paragraph_format, outline=-1, tables=depth))
        self._flow_at(depth)
        self.tables[-1].end_cell()

    def end_row(self, depth: int) -> None:
        """End the open row of the table at a nesting depth (1 for an outer table)."""
        depth = max(1, min(depth, _MAX_DEPTH))
        self._flow_at(depth)
        self.tables[-1].end_row(self.rows[min(depth, 2) - 1])

    def finish(self, paragraph_format: ParagraphFormat) -> Flow:
        """End the open paragraph and all open tables, and return the complete flow."""
        self.end_paragraph(paragraph_format)
        return self._flow_at(0)

    def _flow_at(self, depth: int) -> Flow:
        """Return the flow at a table depth (0 outside tables). Closes deeper tables and opens missing tables."""
        while len(self.tables) > depth:
            table = self.tables.pop()
            table.end_row(self.rows[min(len(self.tables), 1)])
            (self.tables[-1].flow if self.tables else self.flow).append(table)
        while len(self.tables) < depth:
            self.tables.append(RtfTable())
        return self.tables[-1].flow if self.tables else self.flow
