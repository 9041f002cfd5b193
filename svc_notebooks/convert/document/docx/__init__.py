"""Rewrites Word documents (docx) with the elements that pandoc reads, so that no word is lost.

parts.py opens parts, resolves styles and rewrites their structure, and rewrite.py the whole file with its runs, tables,
graphics and numbers of lists. looks.py reads colours, sizes and alignment.
"""
