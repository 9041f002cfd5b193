"""The calendar view.

view: the form. toolbar, period: the shown days. listing, shown_event: the events, and their rows in the grid.
stage: the grid and its panels, and what a person does there. panels, event_facts: the panels and what they show.
calendar_grid, grid_widget: the grid of days and hours, whose assets are grid*.js and calendar_grid.css.
event_times: new times after a move, and the times of a new event.
changes: the calls that each change makes. call_log: their code. editor, edits: the event form, and what it saves.
"""
