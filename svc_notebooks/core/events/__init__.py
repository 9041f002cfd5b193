"""The fields, times, recurrence and checks of calendar events."""
