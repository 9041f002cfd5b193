"""Reads and writes OpenDocument presentations (odp)."""
