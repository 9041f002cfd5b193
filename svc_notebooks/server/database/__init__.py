"""The SQLite database, its connection, its schema and its upgrades.

engine.py                          one connection, transactions, prepared statements
schema.py, column_values.py        the tables, and which values their columns may hold
upgrades.py                        from an older schema version to the present one
opening_record.py, integrity.py    how a database was last opened, and what is wrong with it
errors.py                          errors of SQLite as sentences
"""
