"""The DataFrames of the package: their columns, and how records become frames.

schemas: the types Column and Schema, and the columns of the frames about files, uploads and notifications.
event_schemas, exchange_schemas, sandbox_schemas: the columns of the frames about events, exchanges and the sandbox.
frames: builds a DataFrame from records by a schema.
"""
