"""Start, end and time zone of the event form."""
