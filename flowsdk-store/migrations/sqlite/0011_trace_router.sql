-- Whose session it was, since the trace outlives the session. Null in what was stored before.
ALTER TABLE session_trace ADD COLUMN router_id TEXT REFERENCES router (id) ON DELETE CASCADE;
ALTER TABLE session_trace ADD COLUMN contact_id TEXT REFERENCES contact (id) ON DELETE CASCADE;
CREATE INDEX session_trace_by_router ON session_trace (router_id);
CREATE INDEX session_trace_by_contact ON session_trace (contact_id);
CREATE INDEX session_trace_by_age ON session_trace (created_at);
