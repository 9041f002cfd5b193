"""Reads and writes spreadsheets through a native model, in which sheets store only the cells with content.

model, values, format_code, number_format, sheet_layout: the model, and code for readers and writers.
formulas, calculate: parsing, safety checks, conversion and calculation of formulas.
xls: the reader of xls, and the choice of the reader by the first bytes of a file.
xlsx, ods, delimited: readers and writers of these formats; pdf, html_tables: writers.
"""
