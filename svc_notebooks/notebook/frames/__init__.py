"""The DataFrames of the package: their columns, and how records become frames.

frames: the types Column and Schema, and the function that builds a DataFrame from records.
schemas: a table of columns for each frame about files, uploads, notifications, exchanges and the sandbox.
event_schemas: a table of columns for each frame about events and calendars.
"""
