-- The order within a chat: a number that each message is given in the transaction that stores it.
ALTER TABLE message ADD COLUMN seq BIGINT;
UPDATE message SET seq = numbered.seq
FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY chat_id ORDER BY created_at, id) AS seq FROM message) AS numbered
WHERE numbered.id = message.id;
ALTER TABLE message ALTER COLUMN seq SET NOT NULL;
DROP INDEX message_by_chat;
CREATE UNIQUE INDEX message_in_chat ON message (chat_id, seq);

-- Processes of the version before, which an upgrade leaves running for a while, give no number.
CREATE FUNCTION message_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.seq := (SELECT COALESCE(MAX(seq), 0) + 1 FROM message WHERE chat_id = NEW.chat_id);
    RETURN NEW;
END
$$;
CREATE TRIGGER message_numbered BEFORE INSERT ON message
    FOR EACH ROW WHEN (NEW.seq IS NULL) EXECUTE FUNCTION message_numbered();

-- Events that the next turn of a session handles before the event that came.
ALTER TABLE session ADD COLUMN ahead JSONB;
