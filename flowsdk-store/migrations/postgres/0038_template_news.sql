-- What the provider tells of templates.
ALTER TABLE message_template ADD COLUMN provider_id TEXT;
ALTER TABLE message_template ADD COLUMN quality TEXT;
ALTER TABLE message_template ADD COLUMN rejected_reason TEXT;
