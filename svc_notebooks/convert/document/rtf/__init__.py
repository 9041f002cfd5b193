"""Reads RTF files as pandoc's tree."""

from .parser import parse

__all__ = ["parse"]
