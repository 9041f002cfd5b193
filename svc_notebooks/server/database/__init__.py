"""The SQLite database, with its connection, its schema and its upgrades.

engine.py                          the one connection, transactions, prepared statements
schema.py, column_values.py        the tables, and the values that their columns may contain
upgrades.py                        upgrades from an older schema version to the current version
opening_record.py, integrity.py    the record of the last opening; checks for damage
errors.py                          SQLite errors as sentences for the operator
"""
