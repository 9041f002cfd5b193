-- Drops the claims of upload sessions, which are now in memory, because they are those of running requests.
ALTER TABLE sessions DROP COLUMN generation
