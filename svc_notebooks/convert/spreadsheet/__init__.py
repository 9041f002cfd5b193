"""Reads and writes native spreadsheets, which are sheets of sparse cells.

model, values, date_serial, number_format, sheet_names, sheet_layout: the model and what readers and writers share.
formula: parsing, cleaning, conversion and calculation of formulas.
sniff: chooses the reader by the file's signature.
xlsx, ods, html, text: readers and writers of these formats; xls: reader; pdf: writer.
"""
