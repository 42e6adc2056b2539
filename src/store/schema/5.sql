-- Version 5. What was written back to systems outside: for each case of a run and each system, the address of what it was told last.

CREATE TABLE pushes (
  rc     INTEGER NOT NULL REFERENCES run_cases,
  target TEXT NOT NULL,
  hash   BLOB NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (rc, target)
) STRICT, WITHOUT ROWID;
