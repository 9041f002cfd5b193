-- Adds users' settings of calendars, and indexes for sorted lists, folders, the trash and events. word_index.py adds the
-- full-text index.
CREATE TABLE IF NOT EXISTS calendar_entries (
    user TEXT NOT NULL,
    calendar TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (user, calendar)
);
DROP INDEX IF EXISTS files_by_modified;
CREATE INDEX files_by_modified ON files (owner, modified);
DROP INDEX IF EXISTS files_by_parent_and_name;
CREATE INDEX files_by_parent_and_name ON files (parent, name_key);
DROP INDEX IF EXISTS files_by_parent_and_modified;
CREATE INDEX files_by_parent_and_modified ON files (parent, modified);
DROP INDEX IF EXISTS files_by_time;
CREATE INDEX files_by_time ON files (modified);
DROP INDEX IF EXISTS files_by_trashed;
CREATE INDEX files_by_trashed ON files (owner, trashed, size);
DROP INDEX IF EXISTS events_by_id;
CREATE INDEX events_by_id ON events (id);
DROP INDEX IF EXISTS events_by_number;
CREATE INDEX events_by_number ON events (calendar, seq);
DROP INDEX IF EXISTS events_by_start;
CREATE INDEX events_by_start ON events (calendar, start, id, "end");
DROP INDEX IF EXISTS events_by_series;
CREATE INDEX events_by_series ON events (calendar, series, id);
DROP INDEX IF EXISTS events_by_update;
CREATE INDEX events_by_update ON events (calendar, updated, id);
DROP INDEX IF EXISTS calendar_entries_by_calendar;
CREATE INDEX calendar_entries_by_calendar ON calendar_entries (calendar);
DROP INDEX IF EXISTS events_recurring;
CREATE INDEX events_recurring ON events (calendar, start) WHERE recurring = 1
