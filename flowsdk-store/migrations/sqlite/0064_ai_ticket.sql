-- Tickets of AI agents: they have no queue, and say how the contact feels.
DROP INDEX ticket_by_queue;
DROP INDEX ticket_by_queue_status;
DROP INDEX ticket_by_queue_taken;
DROP INDEX ticket_waiting;
ALTER TABLE ticket RENAME COLUMN queue_id TO queue_of_people;
ALTER TABLE ticket ADD COLUMN queue_id TEXT;
UPDATE ticket SET queue_id = queue_of_people;
ALTER TABLE ticket DROP COLUMN queue_of_people;
CREATE INDEX ticket_by_queue ON ticket (queue_id, created_at, id);
CREATE INDEX ticket_by_queue_status ON ticket (queue_id, status, created_at, id);
CREATE INDEX ticket_by_queue_taken ON ticket (queue_id, assigned_at);
CREATE INDEX ticket_waiting ON ticket (queue_id, contact_wrote_at) WHERE status = 'waiting';

ALTER TABLE ticket ADD COLUMN agent_id TEXT;
ALTER TABLE ticket ADD COLUMN sentiment_result TEXT;
ALTER TABLE ticket ADD COLUMN sentiment_history TEXT;
-- A conversation is with agents once at a time.
CREATE UNIQUE INDEX ticket_open_of_agents ON ticket (chat_id) WHERE status <> 'closed' AND kind = 'ai';
