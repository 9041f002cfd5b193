"""Reads OpenDocument texts (odt).

page: the content as HTML, which pandoc reads.
runs: the formats of text in a paragraph.
elements: attributes and parts of single elements.
looks: alignment, page breaks, size and colours of text, and the page.
"""
