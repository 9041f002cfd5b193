"""The event form.

form: the form, and the form with a list of events for the dashboard.
bindings: the table of the controls, with their fields and arguments.
controls, more_options, inputs: all controls, those under "More options", and the simple ones.
attendee_rows, attachment_rows, property_rows, reminder_rows: controls with a row for each entry.
other_fields: JSON for fields without a control.
from_event, to_arguments: event to controls, controls to arguments and Python code.
time/: start, end and time zone.
"""
