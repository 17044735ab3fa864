CREATE TABLE contact_opt_in (
    id TEXT COLLATE "C" PRIMARY KEY,
    contact_id TEXT COLLATE "C" NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    chat_id TEXT COLLATE "C" REFERENCES chat (id) ON DELETE SET NULL,
    source TEXT NOT NULL,
    recorded_at BIGINT NOT NULL
);
CREATE INDEX contact_opt_in_current ON contact_opt_in (contact_id, router_id, recorded_at, id);
CREATE INDEX contact_opt_in_by_router ON contact_opt_in (router_id, recorded_at, id);

CREATE TABLE chat_tag (
    chat_id TEXT COLLATE "C" NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    tag TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (chat_id, tag)
);

CREATE TABLE flow_event (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    flow_id TEXT COLLATE "C" NOT NULL,
    block_id TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL,
    chat_id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    properties JSONB NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX flow_event_by_router ON flow_event (router_id, created_at, id);

CREATE TABLE session_trace (
    session_id TEXT COLLATE "C" NOT NULL,
    slot BIGINT NOT NULL,
    version BIGINT NOT NULL,
    event TEXT NOT NULL,
    steps JSONB NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, slot)
);
