"""The notification panel, which opens and stops channels and shows their messages."""
