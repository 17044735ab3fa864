-- Stops and redirects that left the row of their session, up to 20 a row.
CREATE TABLE session_history (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    first_number BIGINT NOT NULL,
    entries JSONB NOT NULL,
    PRIMARY KEY (session_id, kind, first_number)
);
