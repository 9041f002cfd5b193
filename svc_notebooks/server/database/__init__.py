"""The SQLite database, with its connection, its schema and its upgrades.

opening.py                         opens databases
engine.py, readers.py              the connections, with their transactions and snapshots
statements.py                      prepared statements
schema.py, column_values.py        the tables, and the values that their columns may contain
upgrades.py                        upgrades from an older schema version to the current version
word_index.py                      the full-text index of the words of files
opening_record.py, integrity.py    the record of the last opening; checks for damage
errors.py                          SQLite errors as sentences for the operator
"""
