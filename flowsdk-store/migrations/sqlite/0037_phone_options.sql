-- How the phone channel of a router behaves.
ALTER TABLE router ADD COLUMN phone TEXT;
