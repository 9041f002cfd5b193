"""The event form.

form: the event form, and the event form with a list of events for the dashboard.
bindings: a table that binds each control to event fields and arguments, and a field for event fields without a control.
controls: all controls with those under "More options", and the arguments that they represent. inputs: simple controls.
attendee_rows: the guests as a list, and rows of guests, attachments and properties.
start_and_end: start, end and time zone.
"""
