"""Calls the operations on calendars and events, and writes iCalendar files."""
