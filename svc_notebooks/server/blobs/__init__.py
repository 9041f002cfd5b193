"""The bytes of stored contents, in parts that are written once and never changed.

blob_store.py, directory.py    the BlobStore interface, in memory and in a directory
stray_blobs.py                 moves files that no row names aside
atomic_write.py                replaces a file as a whole
"""
