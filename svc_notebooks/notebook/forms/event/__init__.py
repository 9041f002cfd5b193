"""The event form.

form, page: the form, and the form with a list of events for the dashboard.
controls, options, more_options: the controls, and those under "More options".
calendar_choice, choices, color_picker: controls with a few values.
attendee_rows, attachment_rows, property_rows, reminder_rows: controls with a row for each entry.
other_fields, bindings: JSON for fields without a control, and the control of each field.
from_event, to_arguments, code: event to controls, controls to arguments, arguments to Python code.
time/: start, end and time zone.
"""
