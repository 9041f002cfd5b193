"""The state of a whole service: to build, fork, save, restore and check it.

context_factory.py               builds a ServiceContext: new, from a data directory, as a fork, from an archive
snapshots.py                     states in memory, to be restored
archive.py, archive_path.py      a service in one file, and where that file may be written
check.py                         reads a data directory and reports damage
expiry.py                        the upcoming expirations and deliveries
"""
