"""The event form.

form: the event form, and the event form with a list of events for the dashboard.
bindings: a table that binds each control to event fields and arguments, and a field for event fields without a control.
controls, inputs: all controls with those under "More options", and the simple controls.
attendee_rows: the guests as a list, and rows of guests, attachments and properties.
to_arguments: converts the controls to arguments and Python code.
start_and_end: start, end and time zone.
"""
