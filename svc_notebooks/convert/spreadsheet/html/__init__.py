"""Reads HTML tables as workbooks, and writes workbooks as web pages."""
