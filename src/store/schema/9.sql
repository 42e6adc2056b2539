-- Version 9. Less room for each failure: contents and events name other contents by their rows and are packed with dictionaries that the
-- store makes of its own texts (`store/recorded.rs`); the texts of symptoms and root causes are packed; the index of addresses has
-- their beginnings only.

-- The latest is what texts are packed with; the earlier ones stay as long as a text is.
CREATE TABLE dictionaries (
  id    INTEGER PRIMARY KEY,
  -- The last event when it was made.
  seq   INTEGER NOT NULL,
  -- The address of what is packed in `bytes`.
  hash  BLOB NOT NULL CHECK (length(hash) = 32),
  bytes BLOB NOT NULL
) STRICT;

-- As in version 7: no row changes. The index that kept addresses apart becomes one with a name, which can be dropped.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'error     TEXT NOT NULL', 'error     ANY NOT NULL') WHERE type = 'table' AND name = 'symptom_revisions';
UPDATE sqlite_schema SET sql = replace(sql, 'message     TEXT,', 'message     ANY,') WHERE type = 'table' AND name = 'rca_revisions';
UPDATE sqlite_schema SET sql = replace(sql, 'BLOB NOT NULL UNIQUE CHECK', 'BLOB NOT NULL CHECK') WHERE type = 'table' AND name = 'blobs';
UPDATE sqlite_schema SET name = 'blobs_hash', sql = 'CREATE INDEX blobs_hash ON blobs (hash)' WHERE name = 'sqlite_autoindex_blobs_1';
PRAGMA writable_schema = RESET;
DROP INDEX blobs_hash;
CREATE INDEX blobs_address ON blobs (substr(hash, 1, 4));
