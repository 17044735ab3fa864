-- Who deletes a router or a flow is told how many sessions stand in the way; without it the whole table is read.
CREATE INDEX session_by_router ON session (router_id);
