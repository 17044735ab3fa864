-- Claims walk ticket_by_queue_status, as before. Tickets that nobody has taken need not be in the other index.
DROP INDEX ticket_by_queue_taken;
CREATE INDEX ticket_by_queue_taken ON ticket (queue_id, assigned_at) WHERE assigned_at IS NOT NULL;
