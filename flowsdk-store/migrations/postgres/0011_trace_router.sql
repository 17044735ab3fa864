-- Whose session it was, since the trace outlives the session. Null in what was stored before.
ALTER TABLE session_trace ADD COLUMN router_id TEXT COLLATE "C";
