"""OpenDocument spreadsheets: read and write, with number_formats and styles."""
