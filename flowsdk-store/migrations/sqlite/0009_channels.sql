CREATE TABLE channel_number (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- The provider's; sessions are named after it.
    phone_number_id TEXT NOT NULL UNIQUE,
    phone_number TEXT NOT NULL,
    business_account_id TEXT NOT NULL,
    access_token_encrypted TEXT,
    encryption_public_key TEXT,
    encryption_private_key_encrypted TEXT,
    encryption_passphrase_encrypted TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX channel_number_by_router ON channel_number (router_id, created_at, id);
CREATE INDEX channel_number_newest ON channel_number (created_at, id);

CREATE TABLE message_template (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    business_account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    language TEXT NOT NULL,
    category TEXT NOT NULL,
    status TEXT NOT NULL,
    components TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (router_id, business_account_id, name, language)
) STRICT;
CREATE INDEX message_template_by_router ON message_template (router_id, created_at, id);
CREATE INDEX message_template_newest ON message_template (created_at, id);

CREATE TABLE llm_credential (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    base_url TEXT,
    api_key_encrypted TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX llm_credential_newest ON llm_credential (created_at, id);
-- Without a foreign key: the column is older than the table.
CREATE INDEX router_by_llm_credential ON router (llm_credential_id) WHERE llm_credential_id IS NOT NULL;

CREATE TABLE integration (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    base_url TEXT NOT NULL,
    credentials_encrypted TEXT,
    settings TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX integration_by_router ON integration (router_id, created_at, id);
CREATE INDEX integration_newest ON integration (created_at, id);

-- At most one row, of id 1.
CREATE TABLE observability_settings (
    id INTEGER PRIMARY KEY,
    enabled INTEGER NOT NULL,
    service_name TEXT NOT NULL,
    endpoint TEXT,
    logfire_token_encrypted TEXT,
    updated_at INTEGER
) STRICT;
