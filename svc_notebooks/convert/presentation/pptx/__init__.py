"""Reads and writes PowerPoint presentations (pptx)."""
