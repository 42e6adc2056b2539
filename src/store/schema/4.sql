-- Version 4. Which symptoms a telling word, or pair of words, occurs in. `store/terms.rs` chooses and fills.

DROP TABLE IF EXISTS symptom_terms;

-- `run` gave the symptom a text with that term, first at `stamp`. A row of symptom 0 closes the list of a run: what occurs in so
-- many symptoms tells nothing.
CREATE TABLE symptom_terms (
  term    INTEGER NOT NULL,
  run     INTEGER NOT NULL,
  symptom INTEGER NOT NULL,
  stamp   INTEGER NOT NULL,
  PRIMARY KEY (term, run, symptom)
) STRICT, WITHOUT ROWID;
