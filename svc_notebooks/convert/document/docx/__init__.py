"""Rewrites Word documents (docx) with the elements that pandoc reads, so that no word is lost.

parts.py opens parts, resolves their styles and formatting, and rewrites their structure. rewrite.py rewrites the whole
file with its runs, tables, graphics and numbers of lists.
"""
