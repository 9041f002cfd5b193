"""Calls a function for each row of a list or DataFrame, in threads or on an executor."""
