"""Reads and writes native documents, which are pandoc's tree and its images.

model, clean: the model, and the cleaning of every tree before it is stored.
read, text, scanned_pages: readers; rtf: the RTF reader.
write, postprocess: writers through pandoc; pdf, tex_formulas: the PDF writer.
pandoc: runs the program.
"""
