-- The messages of a chat are a chain: each names the one before it, and the chat its newest. An index by chat has a leaf
-- for each chat, and each commit wrote nearly all of them again. This one has every 32nd message of a chat, so that a page
-- far back begins near its place. A foreign key would need an index of all messages.
ALTER TABLE chat ADD COLUMN last_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chat ADD COLUMN last_message TEXT;
UPDATE chat SET (last_seq, last_message) = (newest.seq, newest.id)
FROM (SELECT chat_id, MAX(seq) AS seq, id FROM message GROUP BY chat_id) AS newest
WHERE newest.chat_id = chat.id;

CREATE TABLE message_in_chain (
    id TEXT PRIMARY KEY,
    chat_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    direction TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    sender_kind TEXT,
    sender_name TEXT,
    status TEXT,
    channel_message_id TEXT,
    created_at INTEGER NOT NULL,
    status_updated_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    previous TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO message_in_chain
    SELECT id, chat_id, session_id, direction, kind, content, sender_kind, sender_name, status, channel_message_id,
        created_at, status_updated_at, seq,
        (SELECT earlier.id FROM message AS earlier WHERE earlier.chat_id = message.chat_id AND earlier.seq < message.seq
         ORDER BY earlier.seq DESC LIMIT 1)
    FROM message ORDER BY id;
DROP TABLE message;
ALTER TABLE message_in_chain RENAME TO message;
CREATE UNIQUE INDEX message_channel_id ON message (channel_message_id) WHERE channel_message_id IS NOT NULL;
CREATE UNIQUE INDEX message_in_chat ON message (chat_id, seq) WHERE seq % 32 = 0;

CREATE TRIGGER message_ends_chain AFTER INSERT ON message BEGIN
    UPDATE chat SET last_seq = NEW.seq, last_message = NEW.id WHERE id = NEW.chat_id;
END;
