"""The calendar view.

view: the form. panels: the toolbar, the grid (whose assets are grid*.js and calendar_grid.css) and the panels over it.
listing: the shown days, the events with their times, colours and facts, and the request that lists them.
changes: the calls that each change makes, and the event form that makes them.
"""
