-- Two tiers: the journal (what happened in runs, append-only) and what is known across runs (symptoms, root causes, triages), itself a
-- list of facts, each stamped with the `seq` of the last event of the commit that wrote it. A "current" value is the latest visible
-- revision; a reader that saw `seq` n sees the facts stamped n or less.
-- Instants are milliseconds since 1970 in UTC; hashes are the 32 raw bytes.

-- Content by address: canonical JSON, scripts, templates. A BLOB is packed (`store/packing.rs`), a TEXT is not; the same holds for the
-- bodies of events and the texts of symptoms and root causes.
CREATE TABLE blobs (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  text ANY NOT NULL
) STRICT;
CREATE INDEX blobs_address ON blobs (substr(hash, 1, 4));

-- A launch by its identity. Suite, version, pipeline and job are attributes of the launch's own JSON, not tables.
CREATE TABLE launches (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  external TEXT NOT NULL,
  number   INTEGER,
  version  TEXT NOT NULL DEFAULT '',
  -- When it began: as its source says, or else when it was first analysed.
  at       INTEGER NOT NULL DEFAULT 0,
  -- The first run that brought it.
  run      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX launches_identity ON launches (name, external, coalesce(number, -1));
CREATE INDEX launches_named ON launches (name, at);

-- A failure by its identity: the item of a launch, however often it is investigated.
CREATE TABLE cases (
  id     INTEGER PRIMARY KEY,
  launch INTEGER NOT NULL REFERENCES launches,
  item   TEXT NOT NULL,
  test   TEXT NOT NULL DEFAULT '',
  UNIQUE (launch, item)
) STRICT;

CREATE TABLE runs (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  pipeline   TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('running', 'paused', 'done', 'error')),
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  start_seq  INTEGER NOT NULL,
  settings   BLOB NOT NULL,
  manifest   BLOB NOT NULL,
  launch     BLOB NOT NULL,
  cleaned_at INTEGER
) STRICT;

-- The cases of a run, inserted in order in the run's first transaction: comparing two ids compares first the starts of their
-- runs, then their places in the run. That order, unlike the order of arrival, is the same at any parallelism.
CREATE TABLE run_cases (
  id         INTEGER PRIMARY KEY,
  run        INTEGER NOT NULL REFERENCES runs,
  item       TEXT NOT NULL,
  known      INTEGER NOT NULL REFERENCES cases,
  recall_key TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('waiting', 'running', 'paused', 'done', 'error')),
  content    BLOB NOT NULL,
  UNIQUE (run, item)
) STRICT;
CREATE INDEX run_cases_order ON run_cases (run);
CREATE INDEX run_cases_done ON run_cases (run) WHERE status = 'done';

-- The journal. Without foreign keys, for speed: the writer holds both ids of an open run.
CREATE TABLE events (
  seq  INTEGER PRIMARY KEY,
  run  INTEGER NOT NULL,
  rc   INTEGER,
  path TEXT NOT NULL,
  at   INTEGER NOT NULL,
  body ANY NOT NULL,
  -- What the row is compared with when it is read: the first 8 bytes of the hash of all that it says, as an integer.
  sum  INTEGER
) STRICT;
CREATE INDEX events_case ON events (run, rc);

CREATE TABLE symptoms (
  id          INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  run         INTEGER NOT NULL REFERENCES runs,
  stamp       INTEGER NOT NULL
) STRICT;
CREATE INDEX symptoms_recent ON symptoms (run DESC, id);

-- How a symptom was described in the run that found it. Current: the one of the lowest rc, then the latest.
CREATE TABLE symptom_revisions (
  id        INTEGER PRIMARY KEY,
  symptom   INTEGER NOT NULL REFERENCES symptoms,
  run       INTEGER NOT NULL,
  rc        INTEGER NOT NULL REFERENCES run_cases,
  stamp     INTEGER NOT NULL,
  test      TEXT NOT NULL,
  error     ANY NOT NULL,
  category  TEXT NOT NULL,
  component TEXT NOT NULL
) STRICT;
CREATE INDEX symptom_revisions_of ON symptom_revisions (symptom, rc, stamp);
CREATE INDEX symptom_revisions_test ON symptom_revisions (test, run DESC, symptom);
CREATE INDEX symptom_revisions_component ON symptom_revisions (component, run DESC, symptom) WHERE component <> '';

-- The recall keys of the cases a symptom was seen in, each with its first stamp.
CREATE TABLE symptom_keys (
  recall_key TEXT NOT NULL,
  symptom    INTEGER NOT NULL REFERENCES symptoms,
  stamp      INTEGER NOT NULL,
  PRIMARY KEY (recall_key, symptom)
) STRICT, WITHOUT ROWID;

CREATE TABLE case_symptoms (
  rc      INTEGER NOT NULL REFERENCES run_cases,
  symptom INTEGER NOT NULL REFERENCES symptoms,
  stamp   INTEGER NOT NULL,
  PRIMARY KEY (rc, symptom)
) STRICT, WITHOUT ROWID;

-- A root cause belongs to the case of the run that created it.
CREATE TABLE rcas (
  id    INTEGER PRIMARY KEY,
  rc    INTEGER NOT NULL REFERENCES run_cases,
  stamp INTEGER NOT NULL
) STRICT;
CREATE INDEX rcas_recent ON rcas (rc DESC, stamp DESC, id);

-- What was said of a root cause; an absent part says nothing.
CREATE TABLE rca_revisions (
  id          INTEGER PRIMARY KEY,
  rca         INTEGER NOT NULL REFERENCES rcas,
  rc          INTEGER NOT NULL REFERENCES run_cases,
  stamp       INTEGER NOT NULL,
  title       TEXT,
  message     ANY,
  defect_type TEXT,
  component   TEXT,
  convergence REAL,
  status      TEXT,
  -- Whether a person said it. What a person said of a part stands against what is said of it otherwise, then or later.
  human       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX rca_revisions_of ON rca_revisions (rca, stamp);

CREATE TABLE case_rcas (
  rc    INTEGER NOT NULL REFERENCES run_cases,
  rca   INTEGER NOT NULL REFERENCES rcas,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (rc, rca)
) STRICT, WITHOUT ROWID;
CREATE INDEX case_rcas_of ON case_rcas (rca, stamp);

-- That a symptom comes of a root cause. Current for a pair: the one of the highest rc, then the latest.
CREATE TABLE symptom_rcas (
  id         INTEGER PRIMARY KEY,
  symptom    INTEGER NOT NULL REFERENCES symptoms,
  rca        INTEGER NOT NULL REFERENCES rcas,
  rc         INTEGER NOT NULL REFERENCES run_cases,
  stamp      INTEGER NOT NULL,
  confidence REAL NOT NULL,
  human      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX symptom_rcas_of ON symptom_rcas (symptom, rca, rc);

-- Current for a case: the latest.
CREATE TABLE triages (
  id                 INTEGER PRIMARY KEY,
  rc                 INTEGER NOT NULL REFERENCES run_cases,
  stamp              INTEGER NOT NULL,
  category           TEXT NOT NULL,
  severity           TEXT NOT NULL,
  defect_type        TEXT NOT NULL,
  skip_investigation INTEGER NOT NULL,
  repos              TEXT NOT NULL
) STRICT;
CREATE INDEX triages_of ON triages (rc);

-- Current for a case: the latest.
CREATE TABLE case_statuses (
  id     INTEGER PRIMARY KEY,
  rc     INTEGER NOT NULL REFERENCES run_cases,
  stamp  INTEGER NOT NULL,
  status TEXT NOT NULL
) STRICT;
CREATE INDEX case_statuses_of ON case_statuses (rc);

CREATE TABLE notes (
  id    INTEGER PRIMARY KEY,
  rc    INTEGER NOT NULL REFERENCES run_cases,
  stamp INTEGER NOT NULL,
  text  TEXT NOT NULL
) STRICT;
CREATE INDEX notes_of ON notes (rc);

-- One row for each failure (case of a launch) that a symptom was seen in, with the running totals up to this row.
CREATE TABLE sightings (
  symptom  INTEGER NOT NULL REFERENCES symptoms,
  stamp    INTEGER NOT NULL,
  rc       INTEGER NOT NULL REFERENCES run_cases,
  known    INTEGER NOT NULL REFERENCES cases,
  at       INTEGER NOT NULL,
  total    INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL,
  PRIMARY KEY (symptom, stamp),
  UNIQUE (known, symptom)
) STRICT, WITHOUT ROWID;

-- The launches a symptom was seen in, each with its first stamp.
CREATE TABLE symptom_launches (
  symptom INTEGER NOT NULL REFERENCES symptoms,
  launch  INTEGER NOT NULL REFERENCES launches,
  stamp   INTEGER NOT NULL,
  PRIMARY KEY (symptom, launch)
) STRICT, WITHOUT ROWID;

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

-- The cases of a root cause, without those of which it was overturned.
CREATE VIEW case_causes AS
  SELECT rc, rca, stamp FROM case_rcas c
  WHERE NOT EXISTS (SELECT 1 FROM overturned o WHERE o.rca = c.rca AND o.rc = c.rc AND o.message IS NULL);

-- `run` gave the symptom a text with that term, first at `stamp`. A row of symptom 0 closes the list of a run: what occurs in so
-- many symptoms tells nothing.
CREATE TABLE symptom_terms (
  term    INTEGER NOT NULL,
  run     INTEGER NOT NULL,
  symptom INTEGER NOT NULL,
  stamp   INTEGER NOT NULL,
  PRIMARY KEY (term, run, symptom)
) STRICT, WITHOUT ROWID;

-- What the summary script made of a case when the run was concluded: as of the last event of the case, with a revision of the run's texts.
-- It can be made again.
CREATE TABLE findings (
  rc       INTEGER PRIMARY KEY REFERENCES run_cases,
  seq      INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  body     ANY NOT NULL
) STRICT;

-- What was written back to systems outside: for each case of a run and each system, the address of what it was told last.
CREATE TABLE pushes (
  rc     INTEGER NOT NULL REFERENCES run_cases,
  target TEXT NOT NULL,
  hash   BLOB NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (rc, target)
) STRICT, WITHOUT ROWID;

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

-- The latest is what texts are packed with; the earlier ones stay as long as a text is.
CREATE TABLE dictionaries (
  id    INTEGER PRIMARY KEY,
  -- The last event when it was made.
  seq   INTEGER NOT NULL,
  -- The address of what is packed in `bytes`.
  hash  BLOB NOT NULL CHECK (length(hash) = 32),
  bytes BLOB NOT NULL
) STRICT;

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

-- The names of tests that failed.
CREATE TABLE test_names (
  -- The identity: the beginning of a hash of suite and name.
  test  BLOB PRIMARY KEY CHECK (length(test) = 8),
  suite TEXT NOT NULL,
  name  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Answers of agents that passed, for later runs: `asterisk clean --cache` removes them.
CREATE TABLE answers (
  -- The address of what the answer depends on.
  key    BLOB PRIMARY KEY CHECK (length(key) = 32),
  at     INTEGER NOT NULL,
  answer TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
