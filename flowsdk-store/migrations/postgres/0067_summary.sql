-- When the attendance ended of which a contact has the summary: that of a later one takes its place.
ALTER TABLE contact ADD COLUMN last_session_summary_at BIGINT;
