"""xlsx workbooks: read and write; formulas and styles are parts of the reader."""
