-- Where the reply of a contact goes to whom somebody wrote first.
CREATE TABLE broadcast_intent (
    message_id TEXT PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    campaign_id TEXT NOT NULL,
    phone_number_id TEXT NOT NULL,
    recipient TEXT NOT NULL,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    flow_id TEXT NOT NULL REFERENCES flow (id) ON DELETE CASCADE,
    block_id TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX broadcast_intent_of_recipient ON broadcast_intent (phone_number_id, recipient, created_at);
CREATE INDEX broadcast_intent_of_router ON broadcast_intent (router_id);
CREATE INDEX broadcast_intent_of_flow ON broadcast_intent (flow_id);
CREATE INDEX broadcast_intent_by_age ON broadcast_intent (created_at);

-- Whether an agent may write to contacts first.
ALTER TABLE agent ADD COLUMN can_active_dispatch INTEGER NOT NULL DEFAULT 0;
