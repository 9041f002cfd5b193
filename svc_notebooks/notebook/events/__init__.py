"""The public functions for calendars and events."""
