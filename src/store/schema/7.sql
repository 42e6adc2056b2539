-- Version 7. Contents and the bodies of events may be packed (`store/packing.rs`): a BLOB is, a TEXT is not, as are those of before.

-- SQL cannot look into what is packed.
ALTER TABLE events DROP COLUMN type;
-- Another type of a column changes nothing of its rows, and is the one change that ALTER TABLE cannot make. To copy the tables would take
-- minutes and twice the room for a large store.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'text TEXT NOT NULL', 'text ANY NOT NULL') WHERE type = 'table' AND name = 'blobs';
UPDATE sqlite_schema SET sql = replace(sql, 'body TEXT NOT NULL', 'body ANY NOT NULL') WHERE type = 'table' AND name = 'events';
PRAGMA writable_schema = RESET;
