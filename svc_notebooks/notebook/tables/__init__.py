"""Reads and writes DataFrames as files of common table formats, without the service.

formats: the formats, with their names, media types, extensions and packages.
read_table, write_table: a DataFrame from the bytes of a file, and the bytes of a file from a DataFrame.
delimited_text: the character set and the delimiter of CSV and TSV files.
"""
