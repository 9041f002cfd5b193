"""The three upload protocols, with the table of upload sessions."""
