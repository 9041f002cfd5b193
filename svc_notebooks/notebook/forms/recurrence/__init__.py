"""Recurrence, with its controls, a preview of the instances, and `recurrence_calendar`.

builder, controls: all controls together, and those of days and of the end.
rule: converts the controls to an RRULE line and back.
preview, month_calendars: the next instances of a recurrence, and months with its days marked.
"""
