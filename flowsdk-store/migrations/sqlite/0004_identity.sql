CREATE TABLE user_group (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    permissions TEXT NOT NULL,
    router_ids TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX user_group_newest ON user_group (created_at, id);

ALTER TABLE user_account ADD COLUMN group_id TEXT REFERENCES user_group (id) ON DELETE SET NULL;
ALTER TABLE user_account ADD COLUMN logged_out_at INTEGER;
ALTER TABLE user_account ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
UPDATE user_account SET updated_at = created_at;
CREATE INDEX user_account_newest ON user_account (created_at, id);
CREATE INDEX user_account_by_group ON user_account (group_id, created_at, id);
CREATE INDEX user_account_by_role ON user_account (user_role, created_at, id);

CREATE TABLE api_client (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    permissions TEXT NOT NULL,
    router_ids TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    expires_at INTEGER,
    last_used_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX api_client_newest ON api_client (created_at, id);

CREATE TABLE user_device (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    token TEXT NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX user_device_by_user ON user_device (user_id, created_at, id);

CREATE TABLE password_recovery (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    code_hash TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    completed INTEGER NOT NULL DEFAULT 0,
    wrong_tries INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX password_recovery_by_user ON password_recovery (user_id, created_at, id);
CREATE INDEX password_recovery_expiry ON password_recovery (expires_at);

-- The helpdesk's: as much of it as a login asks for.
CREATE TABLE agent (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    login_schedule TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (router_id, user_id)
) STRICT;
CREATE INDEX agent_by_user ON agent (user_id, router_id);

CREATE TABLE idempotent_request (
    principal_id TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    status INTEGER,
    body TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (principal_id, key)
) STRICT;
CREATE INDEX idempotent_request_oldest ON idempotent_request (created_at);
