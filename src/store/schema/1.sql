-- Version 1. Two tiers: the journal (what happened in runs, append-only) and what is known across runs (symptoms, root
-- causes, triages), itself a list of facts, each stamped with the `seq` of the last event of the commit that wrote it. A
-- "current" value is the latest visible revision; a reader that saw `seq` n sees the facts stamped n or less.
-- Instants are milliseconds since 1970 in UTC; hashes are the 32 raw bytes.

-- Content by address: canonical JSON, scripts, templates.
CREATE TABLE blobs (
  id   INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  text TEXT NOT NULL
) STRICT;

-- A launch by its identity. Suite, version, pipeline and job are attributes of the launch's own JSON, not tables.
CREATE TABLE launches (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  external TEXT NOT NULL,
  number   INTEGER
) STRICT;
CREATE UNIQUE INDEX launches_identity ON launches (name, external, ifnull(number, -1));

-- A failure by its identity: the item of a launch, however often it is investigated.
CREATE TABLE cases (
  id     INTEGER PRIMARY KEY,
  launch INTEGER NOT NULL REFERENCES launches,
  item   TEXT NOT NULL,
  UNIQUE (launch, item)
) STRICT;

CREATE TABLE runs (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  pipeline   TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('running', 'paused', 'done', 'error')),
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  seed       INTEGER NOT NULL,
  start_seq  INTEGER NOT NULL,
  args       BLOB NOT NULL,
  manifest   BLOB NOT NULL,
  launch     BLOB NOT NULL
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
  body TEXT NOT NULL,
  type TEXT GENERATED ALWAYS AS (json_extract(body, '$.type')) VIRTUAL
) STRICT;
CREATE INDEX events_case ON events (run, rc);

-- In all tables below `rc` is the case of a run (run_cases.id) that wrote the fact.

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
  error     TEXT NOT NULL,
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

-- One row for each case of a run that a symptom was seen in, with the running totals up to this row.
CREATE TABLE sightings (
  symptom  INTEGER NOT NULL REFERENCES symptoms,
  stamp    INTEGER NOT NULL,
  rc       INTEGER NOT NULL REFERENCES run_cases,
  at       INTEGER NOT NULL,
  total    INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL,
  PRIMARY KEY (symptom, stamp),
  UNIQUE (rc, symptom)
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
  message     TEXT,
  defect_type TEXT,
  component   TEXT,
  convergence REAL,
  status      TEXT
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
  confidence REAL NOT NULL
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
