"""Rewrites Word documents (docx) with the elements that pandoc reads, so that no word is lost.

styles.py reads parts and resolves styles, body.py rewrites paragraphs, and rewrite.py the whole file with its runs,
tables, graphics and numbers of lists. looks.py reads colours, sizes and alignment.
"""
