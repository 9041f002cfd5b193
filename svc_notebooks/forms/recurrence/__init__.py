"""The recurrence controls of the event form, a preview of the instances, and `recurrence_calendar`.

builder: all recurrence controls.
month_calendars: the next instances of a recurrence, and month tables with marked days.
"""
