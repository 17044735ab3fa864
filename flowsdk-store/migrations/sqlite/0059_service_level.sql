-- Service levels of queues, and the clocks of tickets.
ALTER TABLE queue ADD COLUMN service_level TEXT;
ALTER TABLE ticket ADD COLUMN service_clocks TEXT;
ALTER TABLE ticket ADD COLUMN service_next_at INTEGER;
CREATE INDEX ticket_service_next ON ticket (service_next_at) WHERE service_next_at IS NOT NULL;
