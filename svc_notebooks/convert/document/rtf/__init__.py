"""Converts RTF files to pandoc trees."""

from .parser import parse

__all__ = ["parse"]
