-- Who is told what of a router.
CREATE TABLE webhook (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    event_types JSONB NOT NULL,
    secret_encrypted TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    paused_at BIGINT,
    failing_since BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX webhook_by_router ON webhook (router_id, created_at, id);
CREATE INDEX webhook_newest ON webhook (created_at, id);

-- Events for webhooks. `seq` orders those of a webhook and a conversation, of which the first pending one is due.
CREATE TABLE webhook_delivery (
    id TEXT COLLATE "C" PRIMARY KEY,
    webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id TEXT COLLATE "C" NOT NULL,
    event_type TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    body TEXT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT,
    finished_at BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (webhook_id, event_id),
    UNIQUE (webhook_id, key, seq)
);
CREATE INDEX webhook_delivery_newest ON webhook_delivery (webhook_id, created_at, id);
CREATE INDEX webhook_delivery_oldest ON webhook_delivery (created_at);
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at) WHERE status = 'pending';
CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_id, key, seq) WHERE status = 'pending';

CREATE TABLE webhook_attempt (
    id TEXT COLLATE "C" PRIMARY KEY,
    delivery_id TEXT COLLATE "C" NOT NULL REFERENCES webhook_delivery (id) ON DELETE CASCADE,
    status_code BIGINT,
    error TEXT,
    answer TEXT,
    duration_ms BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhook_attempt_by_delivery ON webhook_attempt (delivery_id, created_at, id);
