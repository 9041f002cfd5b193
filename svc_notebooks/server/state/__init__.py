"""The state of a whole service, which can be built, forked, saved, restored and checked.

context_factory.py               builds a ServiceContext: new, from a data directory, as a fork, from an archive
snapshots.py                     states in memory, to be restored
archive.py                       a service in one file
check.py                         reads a data directory and reports damage
expiry.py                        the upcoming expirations and deliveries
"""
