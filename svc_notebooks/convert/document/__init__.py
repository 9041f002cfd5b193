"""Reads and writes native documents. A document is a pandoc tree with images.

model, clean: the model, and the removal of unsafe nodes from a tree before the tree is stored.
read, scanned_pages: readers; html, odt_page, docx: files before pandoc; rtf: the RTF reader.
looks: the markers with which readers bring alignment, sizes and colours through pandoc.
write, postprocess: writers that use pandoc; pdf: the PDF writer.
pandoc: runs the program pandoc.
"""
