"""The public functions that return DataFrames."""
