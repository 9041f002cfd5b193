"""The functions for files."""
