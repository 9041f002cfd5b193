"""What the service needs around its database and its blobs.

data_directory.py, directory_marker.py    the folder of a store: how it is recognised, opened and closed
content_io.py                      writes and reads contents across blobs, computes digests
session_locks.py                   one request at a time for each upload session
disk_reserve.py, fork_guard.py     room for deletions on a full disk; no use in forked processes
clock.py, ids.py                   the system and virtual clocks; ids and secrets
"""
