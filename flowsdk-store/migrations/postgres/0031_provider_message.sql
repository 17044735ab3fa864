-- What the provider of a channel calls an outgoing message, and why it failed. `channel_message_id` is the key under which an
-- incoming message is stored once.
ALTER TABLE message ADD COLUMN provider_id TEXT COLLATE "C";
ALTER TABLE message ADD COLUMN error_code BIGINT;
ALTER TABLE message ADD COLUMN error_title TEXT;
CREATE INDEX message_provider_id ON message (provider_id) WHERE provider_id IS NOT NULL;

-- Statuses of messages whose provider id is not known yet.
CREATE TABLE parked_status (
    provider_id TEXT COLLATE "C" NOT NULL,
    status TEXT NOT NULL,
    at BIGINT NOT NULL,
    error_code BIGINT,
    error_title TEXT,
    parked_at BIGINT NOT NULL,
    PRIMARY KEY (provider_id, status)
);
CREATE INDEX parked_status_by_time ON parked_status (parked_at);
