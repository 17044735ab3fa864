-- What became of the tickets of a router today.
CREATE INDEX ticket_by_router_change ON ticket (router_id, updated_at);
