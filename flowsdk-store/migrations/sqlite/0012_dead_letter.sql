-- Entries of streams that failed for good. `source` is the partition and the broker's id of the entry.
CREATE TABLE dead_letter (
    id TEXT PRIMARY KEY,
    topic TEXT NOT NULL,
    grp TEXT NOT NULL,
    source TEXT,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    reason TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    router_id TEXT REFERENCES router (id) ON DELETE CASCADE,
    first_failed_at INTEGER NOT NULL,
    failed_at INTEGER NOT NULL,
    UNIQUE (topic, grp, source)
) STRICT;
CREATE INDEX dead_letter_newest ON dead_letter (failed_at, id);
CREATE INDEX dead_letter_by_topic ON dead_letter (topic, failed_at, id);
CREATE INDEX dead_letter_by_group ON dead_letter (grp, failed_at, id);
CREATE INDEX dead_letter_by_router ON dead_letter (router_id, failed_at, id);
