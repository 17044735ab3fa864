-- The ticket that each connected desk looks at. A row that has run out says nothing.
CREATE TABLE desk_view (
    desk TEXT PRIMARY KEY,
    ticket_id TEXT NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    until INTEGER NOT NULL,
    typing_until INTEGER
) STRICT;
CREATE INDEX desk_view_by_ticket ON desk_view (ticket_id);
CREATE INDEX desk_view_by_user ON desk_view (user_id);
CREATE INDEX desk_view_until ON desk_view (until);
