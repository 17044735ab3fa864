-- Where the contents of documents are fetched from, and when they were.
ALTER TABLE knowledge_document ADD COLUMN address TEXT;
ALTER TABLE knowledge_document ADD COLUMN fetched_at INTEGER;
