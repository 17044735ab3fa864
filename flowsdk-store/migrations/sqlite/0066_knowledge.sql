-- Documents that AI agents know.
CREATE TABLE knowledge_document (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    tags TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    status TEXT NOT NULL,
    error TEXT,
    chunks INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    embedded_by TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_document_by_router ON knowledge_document (router_id, created_at, id);
CREATE INDEX knowledge_document_newest ON knowledge_document (created_at, id);
CREATE INDEX knowledge_document_ready ON knowledge_document (router_id, embedded_by) WHERE status = 'ready';

-- Their contents, as they came.
CREATE TABLE knowledge_content (
    document_id TEXT PRIMARY KEY REFERENCES knowledge_document (id) ON DELETE CASCADE,
    content BLOB NOT NULL
) STRICT;

-- Documents that are to be worked on, and when. A row of its own: it changes with each step, and a content is large.
CREATE TABLE knowledge_work (
    document_id TEXT PRIMARY KEY REFERENCES knowledge_document (id) ON DELETE CASCADE,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_work_due ON knowledge_work (due_at, document_id);

-- The passages of documents. Vectors are numbers of 32 bits, the lowest byte first.
CREATE TABLE knowledge_chunk (
    document_id TEXT NOT NULL REFERENCES knowledge_document (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    embedding BLOB,
    PRIMARY KEY (document_id, place)
) STRICT;
