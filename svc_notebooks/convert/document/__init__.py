"""Reads and writes native documents. A document is a pandoc tree with images.

model, clean: the model, and the removal of unsafe nodes from a tree before the tree is stored.
read, text, scanned_pages: readers; html, html_looks: web pages before pandoc; rtf: the RTF reader.
looks: the markers with which readers bring alignment, sizes and colours through pandoc.
write, write_looks, postprocess, package_looks: writers that use pandoc; pdf, tex_formulas: the PDF writer.
pandoc: runs the program pandoc.
"""
