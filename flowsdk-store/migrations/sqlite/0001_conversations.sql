CREATE TABLE router (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    initial_flow_id TEXT UNIQUE REFERENCES flow (id) ON DELETE SET NULL,
    tz TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE flow (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    published_version_id TEXT REFERENCES flow_version (id),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX flow_by_router ON flow (router_id, created_at, id);

CREATE TABLE flow_version (
    id TEXT PRIMARY KEY,
    flow_id TEXT NOT NULL REFERENCES flow (id) ON DELETE CASCADE,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    flow_name TEXT NOT NULL,
    number INTEGER NOT NULL,
    definition TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (flow_id, number)
) STRICT;

CREATE TABLE router_variable (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT,
    value_encrypted TEXT,
    is_secret INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (router_id, key),
    CHECK (value IS NULL OR value_encrypted IS NULL)
) STRICT;

CREATE TABLE flow_variable (
    id TEXT PRIMARY KEY,
    flow_id TEXT NOT NULL REFERENCES flow (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT,
    value_encrypted TEXT,
    is_secret INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (flow_id, key),
    CHECK (value IS NULL OR value_encrypted IS NULL)
) STRICT;

CREATE TABLE contact (
    id TEXT PRIMARY KEY,
    phone_number TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    name_locked INTEGER NOT NULL DEFAULT 0,
    origin TEXT,
    contact_variables TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE chat (
    id TEXT PRIMARY KEY,
    contact_id TEXT NOT NULL REFERENCES contact (id),
    router_id TEXT REFERENCES router (id) ON DELETE SET NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX chat_one_open ON chat (contact_id, router_id) WHERE status = 'open';
CREATE INDEX chat_by_contact ON chat (contact_id, created_at, id);

CREATE TABLE message (
    id TEXT PRIMARY KEY,
    chat_id TEXT NOT NULL REFERENCES chat (id),
    session_id TEXT NOT NULL,
    direction TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    sender_kind TEXT,
    sender_name TEXT,
    status TEXT,
    channel_message_id TEXT,
    created_at INTEGER NOT NULL,
    status_updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX message_by_chat ON message (chat_id, created_at, id);
CREATE UNIQUE INDEX message_channel_id ON message (channel_message_id) WHERE channel_message_id IS NOT NULL;

CREATE TABLE session (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    router_id TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    last_interaction_at INTEGER NOT NULL,
    wake_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX session_wake ON session (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE frozen_session (
    session_id TEXT PRIMARY KEY,
    error_code TEXT NOT NULL,
    error_message TEXT NOT NULL,
    entry TEXT NOT NULL,
    frozen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE kept_entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    entry TEXT NOT NULL
) STRICT;
CREATE INDEX kept_entry_by_session ON kept_entry (session_id, seq);

CREATE TABLE stream_entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tx INTEGER NOT NULL DEFAULT 0,
    topic TEXT NOT NULL,
    part INTEGER NOT NULL,
    grp TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL
) STRICT;
CREATE INDEX stream_entry_read ON stream_entry (topic, part, grp, tx, seq);

CREATE TABLE key_value (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX key_value_expiry ON key_value (expires_at) WHERE expires_at IS NOT NULL;
