"""Calls the operations on calendars and events, and writes iCalendar files.

events: a function for each operation on calendars and events.
ical, ical_entry, ical_properties, ical_recurrence: an .ics file and the properties of its events.
vtimezone: the clock changes of a time zone for a VTIMEZONE component.
"""
