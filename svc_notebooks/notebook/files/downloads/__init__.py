"""The functions that receive the content of files."""
