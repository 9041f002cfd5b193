"""Stores the bytes of contents in parts. Bytes that the database counts never change.

blob_store.py, directory.py    the BlobStore interface, with one store in memory and one in a directory
s3.py, bucket.py               the store in a bucket, and the objects of a bucket
stray_blobs.py                 moves files that no database row names to the folder aside/
atomic_write.py                replaces a file atomically
"""
