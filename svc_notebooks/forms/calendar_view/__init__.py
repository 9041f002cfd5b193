"""The calendar view.

view: the form. stage: the grid and its panels, and what a person does there.
panels: the toolbar, the grid (whose assets are grid*.js and calendar_grid.css) and the panels over it.
listing: the shown days, the events with their times, colours and facts, and the request that lists them.
changes: the calls that each change makes. editor: the event form, and what it saves.
"""
