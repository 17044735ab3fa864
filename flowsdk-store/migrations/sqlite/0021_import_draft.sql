-- Uploads that are checked before they are imported.
CREATE TABLE import_draft (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    on_conflict TEXT NOT NULL,
    status TEXT NOT NULL,
    size INTEGER NOT NULL,
    is_valid INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    applied_at INTEGER
) STRICT;
CREATE INDEX import_draft_by_router ON import_draft (router_id, created_at, id);
CREATE INDEX import_draft_newest ON import_draft (created_at, id);
CREATE INDEX import_draft_by_expiry ON import_draft (expires_at);

-- Files and plans are large. Nothing asks what is in a file, so it is a text.
CREATE TABLE import_draft_file (
    draft_id TEXT PRIMARY KEY REFERENCES import_draft (id) ON DELETE CASCADE,
    result TEXT NOT NULL,
    file TEXT NOT NULL
) STRICT;
