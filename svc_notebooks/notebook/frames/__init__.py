"""The columns of all DataFrames that the package returns, and the function that builds DataFrames."""
