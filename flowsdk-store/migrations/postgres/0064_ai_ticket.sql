-- Tickets of AI agents: they have no queue, and say how the contact feels.
ALTER TABLE ticket ALTER COLUMN queue_id DROP NOT NULL;
ALTER TABLE ticket ADD COLUMN agent_id TEXT COLLATE "C";
ALTER TABLE ticket ADD COLUMN sentiment_result JSONB;
ALTER TABLE ticket ADD COLUMN sentiment_history JSONB;
-- A conversation is with agents once at a time.
CREATE UNIQUE INDEX ticket_open_of_agents ON ticket (chat_id) WHERE status <> 'closed' AND kind = 'ai';
