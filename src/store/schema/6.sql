-- Version 6. What an event's row is compared with when it is read: the first 8 bytes of the hash of all that it says, as an integer.
-- Absent in rows of before.

ALTER TABLE events ADD COLUMN sum INTEGER;
