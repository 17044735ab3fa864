-- Who is told what of a router.
CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    event_types TEXT NOT NULL,
    secret_encrypted TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    paused_at INTEGER,
    failing_since INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_by_router ON webhook (router_id, created_at, id);
CREATE INDEX webhook_newest ON webhook (created_at, id);

-- Events for webhooks. `seq` orders those of a webhook and a conversation, of which the first pending one is due.
CREATE TABLE webhook_delivery (
    id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER,
    finished_at INTEGER,
    created_at INTEGER NOT NULL,
    UNIQUE (webhook_id, event_id),
    UNIQUE (webhook_id, key, seq)
) STRICT;
CREATE INDEX webhook_delivery_newest ON webhook_delivery (webhook_id, created_at, id);
CREATE INDEX webhook_delivery_oldest ON webhook_delivery (created_at);
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at) WHERE status = 'pending';
CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_id, key, seq) WHERE status = 'pending';

CREATE TABLE webhook_attempt (
    id TEXT PRIMARY KEY,
    delivery_id TEXT NOT NULL REFERENCES webhook_delivery (id) ON DELETE CASCADE,
    status_code INTEGER,
    error TEXT,
    answer TEXT,
    duration_ms INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_attempt_by_delivery ON webhook_attempt (delivery_id, created_at, id);
