-- When a queue is open, when it turns handoffs away, and for how long an agent may be gone.
ALTER TABLE queue ADD COLUMN reassign_after_minutes INTEGER;
ALTER TABLE queue ADD COLUMN business_hours TEXT;
ALTER TABLE queue ADD COLUMN deflect_when TEXT NOT NULL DEFAULT '[]';
ALTER TABLE queue ADD COLUMN max_waiting INTEGER;
