"""CSV, TSV and other delimited text: read, write; dialect detects delimiters, apostrophe guards against formulas."""
