"""The calendar view.

view: the form. listing: the shown days, the events with their times, colours and facts, and their request; the toolbar,
the grid (whose assets are grid*.js and calendar_grid.css) and the panels over it.
changes: the calls that each change makes, and the event form that makes them.
"""
