"""The stored state: the database with its engines, schema and upgrades; the parts of contents; ids and the clock."""
