"""The DataFrames of the package, with tables of their columns, and the function that builds them.

frames: the types Column and Schema, and the function that builds a DataFrame from records.
schemas: a table of columns for each frame about files, uploads, notifications, exchanges and the sandbox.
event_schemas: a table of columns for each frame about events and calendars.
"""
