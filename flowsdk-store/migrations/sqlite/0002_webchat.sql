CREATE TABLE webchat_channel (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    is_test_channel INTEGER NOT NULL DEFAULT 0,
    appearance TEXT,
    initial_flow_id TEXT REFERENCES flow (id) ON DELETE SET NULL,
    embed_secret_encrypted TEXT,
    allowed_origins TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webchat_channel_by_router ON webchat_channel (router_id, created_at, id);
CREATE UNIQUE INDEX webchat_one_test_channel ON webchat_channel (router_id) WHERE is_test_channel = 1;

CREATE TABLE webchat_identity (
    id TEXT PRIMARY KEY,
    channel_id TEXT NOT NULL REFERENCES webchat_channel (id) ON DELETE CASCADE,
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    session_key_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (channel_id, contact_id)
) STRICT;
