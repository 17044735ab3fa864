-- As on Postgres. Here an index holds the number of each row anyway.
DROP INDEX stream_entry_read;
CREATE INDEX stream_entry_read ON stream_entry (topic, part, grp, tx);
