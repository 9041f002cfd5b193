"""Reads and writes Excel workbooks (xlsx)."""
