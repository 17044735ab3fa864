CREATE TABLE contact_opt_in (
    id TEXT PRIMARY KEY,
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    chat_id TEXT REFERENCES chat (id) ON DELETE SET NULL,
    source TEXT NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contact_opt_in_current ON contact_opt_in (contact_id, router_id, recorded_at, id);
CREATE INDEX contact_opt_in_by_router ON contact_opt_in (router_id, recorded_at, id);

CREATE TABLE chat_tag (
    chat_id TEXT NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (chat_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE flow_event (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    flow_id TEXT NOT NULL,
    block_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    name TEXT NOT NULL,
    properties TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX flow_event_by_router ON flow_event (router_id, created_at, id);

CREATE TABLE session_trace (
    session_id TEXT NOT NULL,
    slot INTEGER NOT NULL,
    version INTEGER NOT NULL,
    event TEXT NOT NULL,
    steps TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, slot)
) STRICT, WITHOUT ROWID;
