-- Tickets that wait and are offered to nobody. No other index fits the words of claims, so they walk this one, whatever the
-- statistics say.
CREATE INDEX ticket_to_claim ON ticket ((queue_id || ''), created_at, id)
    WHERE COALESCE(offered_user_id, status) = 'waiting';
DROP INDEX ticket_by_queue_taken;
CREATE INDEX ticket_by_queue_taken ON ticket (queue_id, assigned_at) WHERE assigned_at IS NOT NULL;
