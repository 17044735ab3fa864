-- What became of the tickets of a day.
CREATE INDEX ticket_by_change ON ticket (updated_at);
