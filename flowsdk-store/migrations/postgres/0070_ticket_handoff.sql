-- When people were asked for, of a ticket that AI agents have.
ALTER TABLE ticket ADD COLUMN handoff_asked_at BIGINT;
