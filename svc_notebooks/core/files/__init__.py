"""The fields, search queries and permissions of files."""
