-- What begins a session of a visitor: their first message, or that they enter.
ALTER TABLE webchat_channel ADD COLUMN start_on TEXT NOT NULL DEFAULT 'message';
