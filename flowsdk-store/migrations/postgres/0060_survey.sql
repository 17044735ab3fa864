-- What contacts are asked when their ticket is resolved.
ALTER TABLE queue ADD COLUMN survey JSONB;
ALTER TABLE ticket ADD COLUMN survey JSONB;
ALTER TABLE ticket ADD COLUMN survey_ends_at BIGINT;
CREATE INDEX ticket_survey_of_session ON ticket (session_id) WHERE survey_ends_at IS NOT NULL;
CREATE INDEX ticket_survey_end ON ticket (survey_ends_at) WHERE survey_ends_at IS NOT NULL;
