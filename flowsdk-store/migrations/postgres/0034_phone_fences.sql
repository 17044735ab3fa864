-- Refusals of the provider because of a difficulty of its own.
ALTER TABLE outbound ADD COLUMN refusals BIGINT NOT NULL DEFAULT 0;

-- What two numbers say of the same id is kept apart. Statuses are parked for ten minutes only.
DROP TABLE parked_status;
CREATE TABLE parked_status (
    provider_id TEXT COLLATE "C" NOT NULL,
    phone_number_id TEXT COLLATE "C" NOT NULL,
    status TEXT NOT NULL,
    at BIGINT NOT NULL,
    error_code BIGINT,
    error_title TEXT,
    parked_at BIGINT NOT NULL,
    PRIMARY KEY (provider_id, phone_number_id, status)
);
CREATE INDEX parked_status_by_time ON parked_status (parked_at);
