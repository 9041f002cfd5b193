"""HTML tables as workbooks (read), and workbooks as web pages (write)."""
