"""The public functions for calendars and events.

events, batch, query, calendars: create, change, delete and list events and calendars.
recurrence, recurrence_plan: instances of recurring events, preview of a recurrence, days of a recurring event.
ical: export of events as an .ics file.
event_arguments: the arguments of create_event and update_event, with their types and descriptions.
local_times: the time zones of a stored event for new times without a time zone.
body, parameters, records: convert arguments to event bodies and query parameters, and responses to frames.
"""
