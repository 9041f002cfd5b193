"""The data directory of a service, its contents, its clock and its ids.

data_directory.py                  recognises, opens and closes the folder of a store
server_store.py                    a store on PostgreSQL
content_location.py, content_folder.py, content_bucket.py, content_marker.py    the folder or bucket of its contents
migration_source.py, migration_target.py  the stores between which `svc-notebooks migrate` copies
content_io.py, content_writer.py   writes and reads contents across blobs, computes digests
session_locks.py                   lets one request at a time use an upload session
disk_reserve.py, fork_guard.py     reserve disk space for deletions; disable the service in forked processes
clock.py, shared_clock.py, ids.py  the system and virtual clocks, that of several processes; ids and secrets
"""
