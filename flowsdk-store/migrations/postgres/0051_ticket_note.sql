-- What agents write to each other about a conversation.
CREATE TABLE ticket_note (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    chat_id TEXT COLLATE "C" NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    ticket_id TEXT COLLATE "C" NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
    author_user_id TEXT COLLATE "C" NOT NULL,
    text TEXT NOT NULL,
    mentioned_user_ids JSONB NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX ticket_note_by_chat ON ticket_note (chat_id, created_at, id);
CREATE INDEX ticket_note_by_router ON ticket_note (router_id);
CREATE INDEX ticket_note_by_ticket ON ticket_note (ticket_id);
