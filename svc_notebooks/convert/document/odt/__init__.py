"""Reads OpenDocument texts (odt).

page: the content as HTML, which pandoc reads.
looks: alignment, page breaks, size and colours of text, and the page.
"""
