"""Reads and writes CSV, TSV and other delimited text."""
