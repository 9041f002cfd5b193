"""The data directory of a service, its contents, its clock and its ids.

data_directory.py                  the folder of a store: how it is recognised, opened and closed
content_io.py                      writes and reads contents across blobs, computes digests
session_locks.py                   one request at a time for each upload session
disk_reserve.py, fork_guard.py     room for deletions on a full disk; no use in forked processes
clock.py, ids.py                   the system and virtual clocks; ids and secrets
"""
