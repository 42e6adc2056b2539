-- Version 8. How every test of a launch ended, those that passed among them: the history of tests.

-- One row for each launch whose source lists them, written by the first run that has them. Name, version and beginning of the launch are
-- in `launches`.
CREATE TABLE test_outcomes (
  launch   INTEGER PRIMARY KEY REFERENCES launches,
  run      INTEGER NOT NULL REFERENCES runs,
  -- The commit that was tested; empty if unknown.
  revision TEXT NOT NULL,
  tests    INTEGER NOT NULL,
  -- A zstd frame with a checksum: the identities of the tests, sorted, eight bytes each, then a byte of outcome each.
  outcomes BLOB NOT NULL
) STRICT;
CREATE INDEX test_outcomes_revision ON test_outcomes (revision) WHERE revision <> '';
