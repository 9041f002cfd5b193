"""Builds, copies, saves, restores and checks the whole state of a service.

context_factory.py               builds a ServiceContext, empty or from a data directory, a running service or a file
snapshots.py                     takes and restores snapshots of a running service
archive.py                       writes a service to one file, and reads the file
backup.py                        copies a data directory that a service is using
migration.py                     copies a store from a folder to PostgreSQL, or back
sweep.py                         finds and deletes parts that belong to no content
check.py                         reads a data directory and reports damage
expiry.py                        lists the upcoming expirations and deliveries, expires upload sessions
"""
