"""Bytes of one format into bytes of another. Nothing heavy is imported before it is used, and then in a worker."""
