"""Reads and writes DataFrames as files of common table formats, without the service."""
