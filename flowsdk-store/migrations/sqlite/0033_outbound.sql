-- Messages that are to be sent by phone, in the order in which they were said.
CREATE TABLE outbound (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id TEXT NOT NULL UNIQUE REFERENCES message (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    phone_number_id TEXT NOT NULL,
    recipient TEXT NOT NULL,
    event TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    -- When the call began that is under way, or whose answer was lost.
    began_at INTEGER,
    queued_at INTEGER NOT NULL
) STRICT;
CREATE INDEX outbound_of_recipient ON outbound (phone_number_id, recipient, seq);
CREATE INDEX outbound_of_number ON outbound (phone_number_id, seq);
CREATE INDEX outbound_of_session ON outbound (session_id);
CREATE INDEX outbound_under_way ON outbound (began_at) WHERE began_at IS NOT NULL;
CREATE INDEX outbound_by_age ON outbound (queued_at);

-- The calls that were made for them. A message with a row here is never queued again.
CREATE TABLE send_attempt (
    message_id TEXT NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT,
    error_code INTEGER,
    error_title TEXT,
    PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX send_attempt_by_time ON send_attempt (began_at);

-- Numbers from which nothing is sent until somebody mends their account.
CREATE TABLE number_pause (
    phone_number_id TEXT PRIMARY KEY REFERENCES channel_number (phone_number_id) ON DELETE CASCADE,
    error_code INTEGER NOT NULL,
    error_title TEXT,
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
