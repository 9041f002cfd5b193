"""The columns of all DataFrames that the package returns, and the function that builds DataFrames.

frames: the types Column and Schema, and the function that builds a DataFrame from records.
schemas: the schemas of the DataFrames about files, uploads, notifications, exchanges and the sandbox.
event_schemas: the schemas of the DataFrames about events and calendars.
"""
