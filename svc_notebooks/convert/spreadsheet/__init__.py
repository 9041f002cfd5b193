"""Reads and writes spreadsheets through a native model, in which sheets store only the cells with content.

model, cell_texts, format_code: the model, and code for readers and writers.
formulas: parsing, safety checks, conversion and calculation of formulas.
xls: the reader of xls, and the choice of the reader by the first bytes of a file.
xlsx, ods, delimited: readers and writers of these formats; pages: the writers of PDF and HTML.
"""
