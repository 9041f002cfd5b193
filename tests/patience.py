"""How long a test waits for what has to happen."""

PATIENCE = 240.0
"""Seconds. Only a failure lasts so long, and no machine that does other work besides is as slow."""
