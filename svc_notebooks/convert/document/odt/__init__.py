"""Reads OpenDocument texts (odt)."""
