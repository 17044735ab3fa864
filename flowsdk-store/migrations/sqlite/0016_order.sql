-- The order within a chat: a number that each message is given in the transaction that stores it.
ALTER TABLE message ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE message SET seq = numbered.seq
FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY chat_id ORDER BY created_at, id) AS seq FROM message) AS numbered
WHERE numbered.id = message.id;
DROP INDEX message_by_chat;
CREATE UNIQUE INDEX message_in_chat ON message (chat_id, seq);

-- Events that the next turn of a session handles before the event that came.
ALTER TABLE session ADD COLUMN ahead TEXT;
