-- Reasons for which people close tickets. A ticket has the key of its reason in its row.
CREATE TABLE close_reason (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    label TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, key)
);
CREATE INDEX close_reason_by_router ON close_reason (router_id, created_at, id);
CREATE INDEX close_reason_newest ON close_reason (created_at, id);
