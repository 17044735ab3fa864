-- Files of conversations. Their contents are beside the database, by the same ids.
CREATE TABLE media (
    id TEXT PRIMARY KEY,
    router_id TEXT REFERENCES router (id) ON DELETE SET NULL,
    message_id TEXT REFERENCES message (id) ON DELETE SET NULL,
    session_id TEXT,
    origin TEXT NOT NULL,
    kind TEXT NOT NULL,
    mime_type TEXT,
    filename TEXT,
    size INTEGER,
    sha256 TEXT,
    status TEXT NOT NULL,
    failure TEXT,
    provider_id TEXT,
    phone_number_id TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- When its content is fetched; NULL, if it is not.
    due_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX media_newest ON media (created_at, id);
CREATE INDEX media_by_router ON media (router_id, created_at, id);
CREATE INDEX media_by_status ON media (status, created_at, id);
CREATE INDEX media_by_router_status ON media (router_id, status, created_at, id);
CREATE INDEX media_of_message ON media (message_id);
CREATE INDEX media_due ON media (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX media_unsent ON media (origin, created_at) WHERE message_id IS NULL;
