-- SQLite writes rows in place: there is nothing to change.
SELECT 1;
