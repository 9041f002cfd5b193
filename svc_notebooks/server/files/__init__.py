"""Files: handlers, permissions, change log, conversions and SQL."""
