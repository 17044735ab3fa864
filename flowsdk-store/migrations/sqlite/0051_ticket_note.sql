-- What agents write to each other about a conversation.
CREATE TABLE ticket_note (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    chat_id TEXT NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    ticket_id TEXT NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
    author_user_id TEXT NOT NULL,
    text TEXT NOT NULL,
    mentioned_user_ids TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ticket_note_by_chat ON ticket_note (chat_id, created_at, id);
CREATE INDEX ticket_note_by_router ON ticket_note (router_id);
CREATE INDEX ticket_note_by_ticket ON ticket_note (ticket_id);
