-- Deliveries of the provider name business accounts.
CREATE INDEX channel_number_by_account ON channel_number (business_account_id);

-- The number that a parked status is said to be of.
ALTER TABLE parked_status ADD COLUMN phone_number_id TEXT;
