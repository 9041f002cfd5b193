-- Adds a column for the checksums of parts. `Content.record_checksums` computes the checksums later.
ALTER TABLE rope ADD COLUMN checksum INTEGER
