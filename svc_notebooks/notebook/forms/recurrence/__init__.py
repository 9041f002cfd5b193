"""The recurrence controls of the event form, a preview of the instances, and `recurrence_calendar`.

builder: all recurrence controls.
rule: converts the values of the controls to an RRULE line and back.
preview, month_calendars: the next instances of a recurrence, and month tables with marked days.
"""
