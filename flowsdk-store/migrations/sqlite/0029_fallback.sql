-- What contacts are told where nothing else answers them, and when a chat was told so last.
ALTER TABLE router ADD COLUMN fallback_texts TEXT;
ALTER TABLE webchat_channel ADD COLUMN fallback_texts TEXT;
ALTER TABLE chat ADD COLUMN told_at INTEGER;
