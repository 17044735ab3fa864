-- The reply of a contact to whom somebody wrote first may go to a queue of the helpdesk.
CREATE TABLE broadcast_intent_new (
    message_id TEXT PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    campaign_id TEXT NOT NULL,
    phone_number_id TEXT NOT NULL,
    recipient TEXT NOT NULL,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    flow_id TEXT REFERENCES flow (id) ON DELETE CASCADE,
    block_id TEXT,
    created_at INTEGER NOT NULL,
    queue_id TEXT REFERENCES queue (id) ON DELETE CASCADE,
    user_id TEXT REFERENCES user_account (id) ON DELETE SET NULL
) STRICT, WITHOUT ROWID;
INSERT INTO broadcast_intent_new
    SELECT message_id, campaign_id, phone_number_id, recipient, router_id, flow_id, block_id, created_at, NULL, NULL
    FROM broadcast_intent;
DROP TABLE broadcast_intent;
ALTER TABLE broadcast_intent_new RENAME TO broadcast_intent;
CREATE INDEX broadcast_intent_of_recipient ON broadcast_intent (phone_number_id, recipient, created_at);
CREATE INDEX broadcast_intent_of_router ON broadcast_intent (router_id);
CREATE INDEX broadcast_intent_of_flow ON broadcast_intent (flow_id);
CREATE INDEX broadcast_intent_by_age ON broadcast_intent (created_at);
CREATE INDEX broadcast_intent_of_queue ON broadcast_intent (queue_id);
CREATE INDEX broadcast_intent_of_user ON broadcast_intent (user_id);
