-- Version 2. What is told of a failure across launches: the version and the time of a launch, the test of a case. A sighting
-- counts a failure once, however often its launch is analysed, and is as old as its launch.

ALTER TABLE launches ADD COLUMN version TEXT NOT NULL DEFAULT '';
-- When it began: as its source says, or else when it was first analysed.
ALTER TABLE launches ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
-- The first run that brought it.
ALTER TABLE launches ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cases ADD COLUMN test TEXT NOT NULL DEFAULT '';

UPDATE launches SET run = ifnull((SELECT min(r.run) FROM cases c JOIN run_cases r ON r.known = c.id WHERE c.launch = launches.id), 0);
UPDATE launches SET at = ifnull((SELECT started_at FROM runs WHERE id = launches.run), 0);
UPDATE launches SET version = ifnull((SELECT json_extract(text, '$.launch.attributes.version') FROM runs JOIN blobs ON hash = runs.launch
  WHERE runs.id = launches.run), '');
UPDATE cases SET test = ifnull((SELECT json_extract(text, '$.name') FROM run_cases JOIN blobs ON hash = content
  WHERE known = cases.id ORDER BY run_cases.id LIMIT 1), '');
CREATE INDEX launches_named ON launches (name, at);

-- One row for each failure (case of a launch) that a symptom was seen in, with the running totals up to this row.
CREATE TABLE sightings_2 (
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
INSERT INTO sightings_2
  SELECT symptom, stamp, rc, known, at, row_number() OVER seen, min(at) OVER seen, max(at) OVER seen
  FROM (
    SELECT s.symptom, s.stamp, s.rc, r.known, l.at, row_number() OVER (PARTITION BY s.symptom, r.known ORDER BY s.stamp) AS nth
    FROM sightings s JOIN run_cases r ON r.id = s.rc JOIN cases c ON c.id = r.known JOIN launches l ON l.id = c.launch
  ) WHERE nth = 1 WINDOW seen AS (PARTITION BY symptom ORDER BY stamp);
DROP TABLE sightings;
ALTER TABLE sightings_2 RENAME TO sightings;

-- The launches a symptom was seen in, each with its first stamp.
CREATE TABLE symptom_launches (
  symptom INTEGER NOT NULL REFERENCES symptoms,
  launch  INTEGER NOT NULL REFERENCES launches,
  stamp   INTEGER NOT NULL,
  PRIMARY KEY (symptom, launch)
) STRICT, WITHOUT ROWID;
INSERT INTO symptom_launches
  SELECT s.symptom, c.launch, min(s.stamp) FROM sightings s JOIN cases c ON c.id = s.known GROUP BY s.symptom, c.launch;
