-- Messages that somebody waits for (0) go before those with which the business begins (1).
ALTER TABLE outbound ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
DROP INDEX outbound_of_number;
CREATE INDEX outbound_of_number ON outbound (phone_number_id, priority, seq);
