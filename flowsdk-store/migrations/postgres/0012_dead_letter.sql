-- Entries of streams that failed for good. `source` is the partition and the broker's id of the entry.
CREATE TABLE dead_letter (
    id TEXT COLLATE "C" PRIMARY KEY,
    topic TEXT NOT NULL,
    grp TEXT NOT NULL,
    source TEXT COLLATE "C",
    key TEXT COLLATE "C" NOT NULL,
    payload TEXT NOT NULL,
    reason TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    router_id TEXT COLLATE "C" REFERENCES router (id) ON DELETE CASCADE,
    first_failed_at BIGINT NOT NULL,
    failed_at BIGINT NOT NULL,
    UNIQUE (topic, grp, source)
);
CREATE INDEX dead_letter_newest ON dead_letter (failed_at, id);
CREATE INDEX dead_letter_by_topic ON dead_letter (topic, failed_at, id);
CREATE INDEX dead_letter_by_group ON dead_letter (grp, failed_at, id);
CREATE INDEX dead_letter_by_router ON dead_letter (router_id, failed_at, id);
