-- What contacts are told while their tickets wait, and when each was told last.
ALTER TABLE queue ADD COLUMN waiting_notice JSONB;
ALTER TABLE ticket ADD COLUMN notified_at BIGINT;
-- How many tickets of a queue were taken lately.
CREATE INDEX ticket_by_queue_taken ON ticket (queue_id, assigned_at);
