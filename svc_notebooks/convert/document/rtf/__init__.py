"""Converts RTF files to pandoc trees."""
