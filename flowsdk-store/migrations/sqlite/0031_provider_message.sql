-- What the provider of a channel calls an outgoing message, and why it failed. `channel_message_id` is the key under which an
-- incoming message is stored once.
ALTER TABLE message ADD COLUMN provider_id TEXT;
ALTER TABLE message ADD COLUMN error_code INTEGER;
ALTER TABLE message ADD COLUMN error_title TEXT;
CREATE INDEX message_provider_id ON message (provider_id) WHERE provider_id IS NOT NULL;

-- Statuses of messages whose provider id is not known yet.
CREATE TABLE parked_status (
    provider_id TEXT NOT NULL,
    status TEXT NOT NULL,
    at INTEGER NOT NULL,
    error_code INTEGER,
    error_title TEXT,
    parked_at INTEGER NOT NULL,
    PRIMARY KEY (provider_id, status)
) STRICT, WITHOUT ROWID;
CREATE INDEX parked_status_by_time ON parked_status (parked_at);
