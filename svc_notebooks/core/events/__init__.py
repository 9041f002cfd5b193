"""The fields, times, recurrence and checks of calendar events.

field_table, value_checks, validation, conference    the table of fields and the checks of an event
times, rfc5545_times                       event times, and the date formats of RFC 5545
rrule, rrule_expansion, rrule_days, rrule_times_of_day    recurrence rules and their expansion into times
instances, series, recurrence_words        instances; series that are moved or split; recurrence in English
calendars, colors                          access roles, and the checks of a calendar
"""
