"""Benchmarks of this package beside its peers: `make bench`.

Every row is one piece of work that ours and its peers do by turns in one run (rounds.py), so that a busy
machine slows them alike, and what is compared is the ratio of neighbours. table.py says what a row is.

    in_process.py   one file's metadata in the sandbox, quiet and beside a busy thread
    transfers.py    256 MiB to and from one served process: ours, stock clients, a bare PUT, curl
    emulator.py     our service and gcp-storage-emulator, asked by one neutral client
    bulk.py         many small files with workers, also over a slow line, and long lists
    memory.py       how far client and service grow over 1 GiB
    start.py        frames and imports

pytest never collects these files: times are no test.
"""
