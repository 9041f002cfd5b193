"""The bytes of stored content, in blobs that are written once and never changed.

blob_store.py, directory.py    the BlobStore interface, in memory and in a directory
damage.py                      the error that reports damaged content
stray_blobs.py                 moves files that no row names aside
atomic_write.py                replaces a file as a whole
"""
