CREATE TABLE router (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    initial_flow_id TEXT COLLATE "C" UNIQUE,
    tz TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE flow (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    published_version_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL
);
CREATE INDEX flow_by_router ON flow (router_id, created_at, id);

CREATE TABLE flow_version (
    id TEXT COLLATE "C" PRIMARY KEY,
    flow_id TEXT COLLATE "C" NOT NULL REFERENCES flow (id) ON DELETE CASCADE,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    flow_name TEXT NOT NULL,
    number BIGINT NOT NULL,
    definition JSONB NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (flow_id, number)
);

ALTER TABLE router ADD FOREIGN KEY (initial_flow_id) REFERENCES flow (id) ON DELETE SET NULL;
ALTER TABLE flow ADD FOREIGN KEY (published_version_id) REFERENCES flow_version (id);

CREATE TABLE router_variable (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    key TEXT COLLATE "C" NOT NULL,
    value TEXT,
    value_encrypted TEXT,
    is_secret BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, key),
    CHECK (value IS NULL OR value_encrypted IS NULL)
);

CREATE TABLE flow_variable (
    id TEXT COLLATE "C" PRIMARY KEY,
    flow_id TEXT COLLATE "C" NOT NULL REFERENCES flow (id) ON DELETE CASCADE,
    key TEXT COLLATE "C" NOT NULL,
    value TEXT,
    value_encrypted TEXT,
    is_secret BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (flow_id, key),
    CHECK (value IS NULL OR value_encrypted IS NULL)
);

CREATE TABLE contact (
    id TEXT COLLATE "C" PRIMARY KEY,
    phone_number TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT NOT NULL,
    name_locked BIGINT NOT NULL DEFAULT 0,
    origin TEXT,
    contact_variables JSONB,
    created_at BIGINT NOT NULL
);

CREATE TABLE chat (
    id TEXT COLLATE "C" PRIMARY KEY,
    contact_id TEXT COLLATE "C" NOT NULL REFERENCES contact (id),
    router_id TEXT COLLATE "C" REFERENCES router (id) ON DELETE SET NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX chat_one_open ON chat (contact_id, router_id) WHERE status = 'open';
CREATE INDEX chat_by_contact ON chat (contact_id, created_at, id);

CREATE TABLE message (
    id TEXT COLLATE "C" PRIMARY KEY,
    chat_id TEXT COLLATE "C" NOT NULL REFERENCES chat (id),
    session_id TEXT COLLATE "C" NOT NULL,
    direction TEXT NOT NULL,
    kind TEXT NOT NULL,
    content JSONB NOT NULL,
    sender_kind TEXT,
    sender_name TEXT,
    status TEXT,
    channel_message_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    status_updated_at BIGINT NOT NULL
);
CREATE INDEX message_by_chat ON message (chat_id, created_at, id);
CREATE UNIQUE INDEX message_channel_id ON message (channel_message_id) WHERE channel_message_id IS NOT NULL;

CREATE TABLE session (
    id TEXT COLLATE "C" PRIMARY KEY,
    version BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    router_id TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL,
    chat_id TEXT COLLATE "C" NOT NULL,
    mode TEXT NOT NULL,
    state JSONB NOT NULL,
    started_at BIGINT NOT NULL,
    last_interaction_at BIGINT NOT NULL,
    wake_at BIGINT
);
CREATE INDEX session_wake ON session (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE frozen_session (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    error_code TEXT NOT NULL,
    error_message TEXT NOT NULL,
    entry JSONB NOT NULL,
    frozen_at BIGINT NOT NULL
);

CREATE TABLE kept_entry (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    entry JSONB NOT NULL
);
CREATE INDEX kept_entry_by_session ON kept_entry (session_id, seq);

CREATE TABLE stream_entry (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tx BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
    topic TEXT NOT NULL,
    part BIGINT NOT NULL,
    grp TEXT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    payload TEXT NOT NULL
);
CREATE INDEX stream_entry_read ON stream_entry (topic, part, grp, tx, seq);

CREATE TABLE key_value (
    key TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL,
    expires_at BIGINT
);
CREATE INDEX key_value_expiry ON key_value (expires_at) WHERE expires_at IS NOT NULL;
