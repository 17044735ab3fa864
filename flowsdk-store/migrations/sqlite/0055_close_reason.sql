-- Reasons for which people close tickets. A ticket has the key of its reason in its row.
CREATE TABLE close_reason (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    label TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (router_id, key)
) STRICT;
CREATE INDEX close_reason_by_router ON close_reason (router_id, created_at, id);
CREATE INDEX close_reason_newest ON close_reason (created_at, id);
