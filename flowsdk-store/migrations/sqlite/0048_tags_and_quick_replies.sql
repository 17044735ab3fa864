-- Tags of tickets. A ticket has the ids of its tags in its row.
CREATE TABLE tag (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    color TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (router_id, name)
) STRICT;
CREATE INDEX tag_by_router ON tag (router_id, created_at, id);
CREATE INDEX tag_newest ON tag (created_at, id);

ALTER TABLE ticket ADD COLUMN tag_ids TEXT NOT NULL DEFAULT '[]';
ALTER TABLE ticket ADD COLUMN first_replied_at INTEGER;
CREATE INDEX ticket_tagged ON ticket (router_id) WHERE tag_ids <> '[]';

-- Texts that agents send often.
CREATE TABLE quick_reply (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    shortcut TEXT,
    text TEXT NOT NULL,
    queue_id TEXT REFERENCES queue (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (router_id, shortcut)
) STRICT;
CREATE INDEX quick_reply_by_router ON quick_reply (router_id, created_at, id);
CREATE INDEX quick_reply_newest ON quick_reply (created_at, id);
CREATE INDEX quick_reply_by_name ON quick_reply (router_id, name, id);
CREATE INDEX quick_reply_by_queue ON quick_reply (queue_id);
