-- The ticket that each connected desk looks at. A row that has run out says nothing.
CREATE TABLE desk_view (
    desk TEXT COLLATE "C" PRIMARY KEY,
    ticket_id TEXT COLLATE "C" NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    until BIGINT NOT NULL,
    typing_until BIGINT
);
CREATE INDEX desk_view_by_ticket ON desk_view (ticket_id);
CREATE INDEX desk_view_by_user ON desk_view (user_id);
CREATE INDEX desk_view_until ON desk_view (until);
