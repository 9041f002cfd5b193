"""CSV, TSV and other delimited text.

read, write: the reader and the writer; dialect: detects delimiters.
formula_guard: escapes texts that a program would run as a formula.
"""
