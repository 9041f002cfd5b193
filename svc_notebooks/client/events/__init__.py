"""The client's calls on calendar events, and iCalendar files.

events: one call for each operation.
ical, ical_entry, ical_properties, ical_recurrence: an .ics file and its components.
vtimezone: the VTIMEZONE of a time zone.
"""
