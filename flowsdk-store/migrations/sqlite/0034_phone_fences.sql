-- Refusals of the provider because of a difficulty of its own.
ALTER TABLE outbound ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;

-- What two numbers say of the same id is kept apart. Statuses are parked for ten minutes only.
DROP TABLE parked_status;
CREATE TABLE parked_status (
    provider_id TEXT NOT NULL,
    phone_number_id TEXT NOT NULL,
    status TEXT NOT NULL,
    at INTEGER NOT NULL,
    error_code INTEGER,
    error_title TEXT,
    parked_at INTEGER NOT NULL,
    PRIMARY KEY (provider_id, phone_number_id, status)
) STRICT, WITHOUT ROWID;
CREATE INDEX parked_status_by_time ON parked_status (parked_at);
