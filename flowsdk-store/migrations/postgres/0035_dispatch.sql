-- Where the reply of a contact goes to whom somebody wrote first.
CREATE TABLE broadcast_intent (
    message_id TEXT COLLATE "C" PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    campaign_id TEXT NOT NULL,
    phone_number_id TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    flow_id TEXT COLLATE "C" NOT NULL REFERENCES flow (id) ON DELETE CASCADE,
    block_id TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX broadcast_intent_of_recipient ON broadcast_intent (phone_number_id, recipient, created_at);
CREATE INDEX broadcast_intent_of_router ON broadcast_intent (router_id);
CREATE INDEX broadcast_intent_of_flow ON broadcast_intent (flow_id);
CREATE INDEX broadcast_intent_by_age ON broadcast_intent (created_at);

-- Whether an agent may write to contacts first.
ALTER TABLE agent ADD COLUMN can_active_dispatch BIGINT NOT NULL DEFAULT 0;
