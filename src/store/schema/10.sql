-- Version 10. Roots: what failures of one cause have in common, and what people said of that. The names of tests that failed.

-- The roots of a root cause. One that people merged with another has the roots of both.
CREATE TABLE rca_roots (
  root  TEXT NOT NULL,
  rca   INTEGER NOT NULL REFERENCES rcas,
  rc    INTEGER NOT NULL REFERENCES run_cases,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (root, rca)
) STRICT, WITHOUT ROWID;
CREATE INDEX rca_roots_of ON rca_roots (rca);

-- What people said of roots outside of any run; the events are those of run 0. The latest counts. A row is for the failures of a recall
-- key, which have the root `other` whatever the rules say, or for a root, for which `other` stands.
CREATE TABLE root_words (
  id         INTEGER PRIMARY KEY,
  stamp      INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  recall_key TEXT,
  root       TEXT,
  other      TEXT NOT NULL,
  by         TEXT NOT NULL,
  message    TEXT NOT NULL,
  CHECK ((recall_key IS NULL) <> (root IS NULL))
) STRICT;
CREATE INDEX root_words_key ON root_words (recall_key) WHERE recall_key IS NOT NULL;

-- The names of tests that failed or were retried, by the identity that `test_outcomes` has of them, so that flaky tests can be named.

CREATE TABLE test_names (
  -- The identity: the beginning of a hash of suite and name.
  test  BLOB PRIMARY KEY CHECK (length(test) = 8),
  suite TEXT NOT NULL,
  name  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
