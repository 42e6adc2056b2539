-- Version 3. What people say of root causes, and what they overturned; runs whose traces were cleaned away.

-- Whether a person said it. What a person said of a part stands against what is said of it otherwise, then or later.
ALTER TABLE rca_revisions ADD COLUMN human INTEGER NOT NULL DEFAULT 0;
ALTER TABLE symptom_rcas ADD COLUMN human INTEGER NOT NULL DEFAULT 0;

-- What a person said of the state of a root cause outside of any run; the events are those of run 0. The latest counts, and
-- counts more than the status that steps gave.
CREATE TABLE rca_words (
  id      INTEGER PRIMARY KEY,
  rca     INTEGER NOT NULL REFERENCES rcas,
  stamp   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  status  TEXT NOT NULL,
  by      TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT;
CREATE INDEX rca_words_of ON rca_words (rca, stamp);

-- That a review took back what a case's symptom was said to come of. With `message`, the root cause itself was put right and
-- lives on with other words: these are the old ones.
CREATE TABLE overturned (
  id          INTEGER PRIMARY KEY,
  symptom     INTEGER NOT NULL REFERENCES symptoms,
  rca         INTEGER NOT NULL REFERENCES rcas,
  rc          INTEGER NOT NULL REFERENCES run_cases,
  stamp       INTEGER NOT NULL,
  by          TEXT NOT NULL,
  title       TEXT,
  message     TEXT,
  defect_type TEXT
) STRICT;
CREATE INDEX overturned_of ON overturned (symptom, rca);
CREATE INDEX overturned_rca ON overturned (rca, rc);

-- When the events and contents of a run were removed. What it found stays.
ALTER TABLE runs ADD COLUMN cleaned_at INTEGER;

-- The cases of a root cause, without those of which it was overturned.
CREATE VIEW case_causes AS
  SELECT rc, rca, stamp FROM case_rcas c
  WHERE NOT EXISTS (SELECT 1 FROM overturned o WHERE o.rca = c.rca AND o.rc = c.rc AND o.message IS NULL);
