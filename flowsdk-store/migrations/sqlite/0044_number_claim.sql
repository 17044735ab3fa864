-- The same for SQLite, whose one writer claims no numbers.
CREATE TABLE number_claim (number TEXT PRIMARY KEY) STRICT;
