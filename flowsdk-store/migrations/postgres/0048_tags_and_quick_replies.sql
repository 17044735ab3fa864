-- Tags of tickets. A ticket has the ids of its tags in its row.
CREATE TABLE tag (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    color TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, name)
);
CREATE INDEX tag_by_router ON tag (router_id, created_at, id);
CREATE INDEX tag_newest ON tag (created_at, id);

ALTER TABLE ticket ADD COLUMN tag_ids JSONB NOT NULL DEFAULT '[]';
ALTER TABLE ticket ADD COLUMN first_replied_at BIGINT;
CREATE INDEX ticket_tagged ON ticket (router_id) WHERE tag_ids <> '[]';

-- Texts that agents send often.
CREATE TABLE quick_reply (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    shortcut TEXT,
    text TEXT NOT NULL,
    queue_id TEXT COLLATE "C" REFERENCES queue (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, shortcut)
);
CREATE INDEX quick_reply_by_router ON quick_reply (router_id, created_at, id);
CREATE INDEX quick_reply_newest ON quick_reply (created_at, id);
CREATE INDEX quick_reply_by_name ON quick_reply (router_id, name, id);
CREATE INDEX quick_reply_by_queue ON quick_reply (queue_id);
