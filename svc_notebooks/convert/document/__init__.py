"""Reads and writes native documents. A document is a pandoc tree with images.

model, clean: the model, and the removal of unsafe nodes from a tree before the tree is stored.
read, text, scanned_pages: readers; rtf: the RTF reader.
write, postprocess: writers that use pandoc; pdf, tex_formulas: the PDF writer.
pandoc: runs the program pandoc.
"""
