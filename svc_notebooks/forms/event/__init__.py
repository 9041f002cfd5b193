"""The event form.

form: the event form with all controls and those under "More options", the arguments that they represent, and the form
with a list of events for the dashboard.
bindings: a table that binds each control to event fields and arguments, and a field for event fields without a control.
inputs: simple controls, properties, and start, end and time zone.
attendee_rows: the guests as a list, and rows of guests and attachments.
"""
