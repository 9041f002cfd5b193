"""Reads and writes spreadsheets through a native model, in which sheets store only the cells with content.

model, values, date_serial, format_code, number_format, sheet_names, sheet_layout: the model, and code for readers and
writers.
formula: parsing, safety checks, conversion and calculation of formulas.
sniff: chooses the reader by the file's signature.
xlsx, ods, html, text: readers and writers of these formats; xls: reader; pdf: writer.
"""
