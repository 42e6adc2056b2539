-- How often the right to execute the run was taken: a process that lost it can tell, and its commits are refused.
ALTER TABLE runs ADD COLUMN holder INTEGER NOT NULL DEFAULT 0;

-- The cases of a run that is handed out to workers, one job each.
CREATE TABLE jobs (
  rc       INTEGER PRIMARY KEY REFERENCES run_cases,
  run      INTEGER NOT NULL REFERENCES runs,
  -- The last phase that the case may enter, counted from 0, and the event number of the barrier before it.
  phase    INTEGER NOT NULL,
  barrier  INTEGER NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('waiting', 'walking', 'done', 'dead')),
  -- How often it was given to a worker: the commits of an earlier one are refused.
  fence    INTEGER NOT NULL DEFAULT 0,
  -- How often it failed in this phase.
  failures INTEGER NOT NULL DEFAULT 0,
  worker   TEXT NOT NULL DEFAULT '',
  -- Until when it is the worker's; if it waits, before when it is not given to any; if it is done, when it ended.
  until    INTEGER NOT NULL DEFAULT 0,
  -- Why it failed last.
  error    TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX jobs_open ON jobs (state, until, rc);
CREATE INDEX jobs_of ON jobs (run, state, until);

CREATE TABLE workers (
  name       TEXT PRIMARY KEY,
  -- How many cases it walks at once.
  threads    INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  -- The requested state.
  state      TEXT NOT NULL CHECK (state IN ('running', 'paused', 'draining')),
  -- How many jobs it finished, and how many failed.
  finished   INTEGER NOT NULL DEFAULT 0,
  failed     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What was said outside of runs, and removals.
CREATE INDEX events_of_no_run ON events (seq) WHERE run = 0;
