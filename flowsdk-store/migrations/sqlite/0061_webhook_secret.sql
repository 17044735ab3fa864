-- While a secret is replaced, deliveries are signed with the one before it, too.
ALTER TABLE webhook ADD COLUMN previous_secret_encrypted TEXT;
ALTER TABLE webhook ADD COLUMN previous_secret_ends_at INTEGER;
