-- Version 12. Memories of the goal loop: what was tried, and how it came out.

-- A megram is written by the step of a run, or distilled from others. `space` and `entity` say what it is about; `f`, `sigma` and `k` are
-- its strength, direction and rate of fading. `sources` is the list of the memories that a distilled one was made from.
CREATE TABLE megrams (
  id           INTEGER PRIMARY KEY,
  rc           INTEGER REFERENCES run_cases,
  stamp        INTEGER NOT NULL,
  path         TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  recalled_at  INTEGER,
  level        TEXT NOT NULL CHECK (level IN ('M', 'K', 'C', 'T')),
  space        TEXT NOT NULL,
  entity       TEXT NOT NULL,
  content      TEXT NOT NULL,
  state        TEXT NOT NULL,
  f            REAL NOT NULL,
  sigma        REAL NOT NULL,
  k            REAL NOT NULL,
  consolidated INTEGER NOT NULL,
  sources      TEXT NOT NULL
) STRICT;
CREATE INDEX megrams_about ON megrams (space, created_at);

-- The heads of the auditors' logs, each stored by the commit that the log was written for.
CREATE TABLE audit_anchors (
  run     INTEGER NOT NULL REFERENCES runs,
  stamp   INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  head    TEXT NOT NULL,
  log     TEXT NOT NULL
) STRICT;
CREATE INDEX audit_anchors_of ON audit_anchors (log, stamp);
