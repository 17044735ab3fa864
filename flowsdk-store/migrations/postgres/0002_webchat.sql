CREATE TABLE webchat_channel (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    is_test_channel BIGINT NOT NULL DEFAULT 0,
    appearance JSONB,
    initial_flow_id TEXT COLLATE "C" REFERENCES flow (id) ON DELETE SET NULL,
    embed_secret_encrypted TEXT,
    allowed_origins JSONB,
    created_at BIGINT NOT NULL
);
CREATE INDEX webchat_channel_by_router ON webchat_channel (router_id, created_at, id);
CREATE UNIQUE INDEX webchat_one_test_channel ON webchat_channel (router_id) WHERE is_test_channel = 1;

CREATE TABLE webchat_identity (
    id TEXT COLLATE "C" PRIMARY KEY,
    channel_id TEXT COLLATE "C" NOT NULL REFERENCES webchat_channel (id) ON DELETE CASCADE,
    contact_id TEXT COLLATE "C" NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    session_key_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (channel_id, contact_id)
);
