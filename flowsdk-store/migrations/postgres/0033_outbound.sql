-- Messages that are to be sent by phone, in the order in which they were said.
CREATE TABLE outbound (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES message (id) ON DELETE CASCADE,
    session_id TEXT COLLATE "C" NOT NULL,
    phone_number_id TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    event TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    due_at BIGINT NOT NULL,
    -- When the call began that is under way, or whose answer was lost.
    began_at BIGINT,
    queued_at BIGINT NOT NULL
);
CREATE INDEX outbound_of_recipient ON outbound (phone_number_id, recipient, seq);
CREATE INDEX outbound_of_number ON outbound (phone_number_id, seq);
CREATE INDEX outbound_of_session ON outbound (session_id);
CREATE INDEX outbound_under_way ON outbound (began_at) WHERE began_at IS NOT NULL;
CREATE INDEX outbound_by_age ON outbound (queued_at);

-- The calls that were made for them. A message with a row here is never queued again.
CREATE TABLE send_attempt (
    message_id TEXT COLLATE "C" NOT NULL REFERENCES message (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    began_at BIGINT NOT NULL,
    ended_at BIGINT,
    outcome TEXT,
    error_code BIGINT,
    error_title TEXT,
    PRIMARY KEY (message_id, number)
);
CREATE INDEX send_attempt_by_time ON send_attempt (began_at);

-- Numbers from which nothing is sent until somebody mends their account.
CREATE TABLE number_pause (
    phone_number_id TEXT COLLATE "C" PRIMARY KEY REFERENCES channel_number (phone_number_id) ON DELETE CASCADE,
    error_code BIGINT NOT NULL,
    error_title TEXT,
    since BIGINT NOT NULL
);
