-- Tickets that are offered to agents, who accept or decline them.
ALTER TABLE queue ADD COLUMN accept_within_seconds BIGINT;
ALTER TABLE ticket ADD COLUMN offered_user_id TEXT;
ALTER TABLE ticket ADD COLUMN offer_ends_at BIGINT;
ALTER TABLE ticket ADD COLUMN passed_by JSONB;
CREATE INDEX ticket_offered_to ON ticket (offered_user_id) WHERE status = 'waiting' AND offered_user_id IS NOT NULL;
CREATE INDEX ticket_offer_end ON ticket (offer_ends_at) WHERE offer_ends_at IS NOT NULL;
