-- Version 11. Answers of agents that passed, for later runs: `asterisk clean --cache` removes them.
CREATE TABLE answers (
  -- The address of what the answer depends on.
  key    BLOB PRIMARY KEY CHECK (length(key) = 32),
  at     INTEGER NOT NULL,
  answer TEXT NOT NULL
) STRICT, WITHOUT ROWID;
