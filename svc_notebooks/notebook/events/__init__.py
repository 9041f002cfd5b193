"""The public functions for calendars and events.

events, batch, query, calendars: create, change, delete and list events and calendars.
recurrence, recurrence_plan: instances of recurring events, the preview of a recurrence and its days.
ical: the export as an .ics file.
details: the arguments of create_event and update_event, with their types and descriptions.
body, parameters, records: event bodies and query parameters from arguments, frames from responses.
"""
