"""Reads and writes OpenDocument spreadsheets (ods)."""
