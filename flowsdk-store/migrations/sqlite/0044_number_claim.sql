-- SQLite has one writer, who claims no numbers.
SELECT 1;
