-- Stops and redirects that left the row of their session, up to 20 a row.
CREATE TABLE session_history (
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    first_number INTEGER NOT NULL,
    entries TEXT NOT NULL,
    PRIMARY KEY (session_id, kind, first_number)
) STRICT, WITHOUT ROWID;
