-- The reply of a contact to whom somebody wrote first may go to a queue of the helpdesk.
ALTER TABLE broadcast_intent ALTER COLUMN flow_id DROP NOT NULL;
ALTER TABLE broadcast_intent ADD COLUMN queue_id TEXT COLLATE "C" REFERENCES queue (id) ON DELETE CASCADE;
ALTER TABLE broadcast_intent ADD COLUMN user_id TEXT COLLATE "C" REFERENCES user_account (id) ON DELETE SET NULL;
CREATE INDEX broadcast_intent_of_queue ON broadcast_intent (queue_id);
CREATE INDEX broadcast_intent_of_user ON broadcast_intent (user_id);
