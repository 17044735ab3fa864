-- Until when the contact of a chat can be answered freely.
ALTER TABLE chat ADD COLUMN window_ends_at BIGINT;
