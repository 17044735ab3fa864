-- When a queue is open, when it turns handoffs away, and for how long an agent may be gone.
ALTER TABLE queue ADD COLUMN reassign_after_minutes BIGINT;
ALTER TABLE queue ADD COLUMN business_hours JSONB;
ALTER TABLE queue ADD COLUMN deflect_when JSONB NOT NULL DEFAULT '[]';
ALTER TABLE queue ADD COLUMN max_waiting BIGINT;
