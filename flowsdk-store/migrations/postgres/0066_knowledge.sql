-- Documents that AI agents know.
CREATE TABLE knowledge_document (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    tags JSONB NOT NULL,
    media_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    status TEXT NOT NULL,
    error TEXT,
    chunks BIGINT NOT NULL,
    embedded BIGINT NOT NULL,
    embedded_by TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX knowledge_document_by_router ON knowledge_document (router_id, created_at, id);
CREATE INDEX knowledge_document_newest ON knowledge_document (created_at, id);
CREATE INDEX knowledge_document_ready ON knowledge_document (router_id, embedded_by) WHERE status = 'ready';

-- Their contents, as they came.
CREATE TABLE knowledge_content (
    document_id TEXT COLLATE "C" PRIMARY KEY REFERENCES knowledge_document (id) ON DELETE CASCADE,
    content BYTEA NOT NULL
);

-- Documents that are to be worked on, and when. A row of its own: it changes with each step, and a content is large.
CREATE TABLE knowledge_work (
    document_id TEXT COLLATE "C" PRIMARY KEY REFERENCES knowledge_document (id) ON DELETE CASCADE,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL
);
CREATE INDEX knowledge_work_due ON knowledge_work (due_at, document_id);

-- The passages of documents. Vectors are numbers of 32 bits, the lowest byte first.
CREATE TABLE knowledge_chunk (
    document_id TEXT COLLATE "C" NOT NULL REFERENCES knowledge_document (id) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    text TEXT NOT NULL,
    embedding BYTEA,
    PRIMARY KEY (document_id, place)
);
