"""Reads RTF: tokens become runs and paragraphs, and these become pandoc's tree."""

from .parser import parse

__all__ = ["parse"]
