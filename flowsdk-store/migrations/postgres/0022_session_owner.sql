-- The sessions that an agent or a human has are few beside those in a flow, and lists ask for them alone.
CREATE INDEX session_owner ON session (mode, began_at, id) WHERE mode <> 'flow';
