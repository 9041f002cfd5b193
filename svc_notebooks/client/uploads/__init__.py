"""Uploads content with simple, multipart and resumable uploads."""
