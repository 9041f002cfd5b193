"""The database, with its connections, its schema and its upgrades, on SQLite and on PostgreSQL.

opening.py                         opens databases
engine.py, readers.py              the connections, with their transactions and snapshots
postgres.py, postgres_*.py         the same on PostgreSQL, with a queue of statements; side_connections.py
statements.py                      prepared statements in both dialects
schema.py, column_values.py        the tables, and the values that their columns may contain; shared_schema.py
upgrades.py, postgres_upgrades.py  upgrades from older schema versions; word_index.py indexes the words of files
opening_record.py, integrity.py    the record of the last opening; checks for damage
errors.py                          SQLite errors as sentences for the operator
"""
