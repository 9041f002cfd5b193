"""The public functions for calendars and events.

events, batch, query, calendars: create, change, delete and list events and calendars.
event_rows: the change of one event, for calls with many events.
recurrence, event_days: instances of recurring events, preview of a recurrence, days of a recurring event.
event_changes, series_state: changes of stored events, and of series that are moved or split.
ical, ical_import: export of events as an .ics file, and import of such files.
local_times: the time zones of a stored event for new times without a time zone, and times that the clock skips.
body, parameters, records: convert arguments to event bodies and query parameters, and responses to frames.
"""
