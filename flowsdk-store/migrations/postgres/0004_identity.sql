CREATE TABLE user_group (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    permissions JSONB NOT NULL,
    router_ids JSONB NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX user_group_newest ON user_group (created_at, id);

ALTER TABLE user_account ADD COLUMN group_id TEXT COLLATE "C" REFERENCES user_group (id) ON DELETE SET NULL;
ALTER TABLE user_account ADD COLUMN logged_out_at BIGINT;
ALTER TABLE user_account ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
UPDATE user_account SET updated_at = created_at;
CREATE INDEX user_account_newest ON user_account (created_at, id);
CREATE INDEX user_account_by_group ON user_account (group_id, created_at, id);
CREATE INDEX user_account_by_role ON user_account (user_role, created_at, id);

CREATE TABLE api_client (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    permissions JSONB NOT NULL,
    router_ids JSONB NOT NULL,
    active BIGINT NOT NULL DEFAULT 1,
    expires_at BIGINT,
    last_used_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX api_client_newest ON api_client (created_at, id);

CREATE TABLE user_device (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    token TEXT COLLATE "C" NOT NULL UNIQUE,
    platform TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX user_device_by_user ON user_device (user_id, created_at, id);

CREATE TABLE password_recovery (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    code_hash TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    completed BIGINT NOT NULL DEFAULT 0,
    wrong_tries BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);
CREATE INDEX password_recovery_by_user ON password_recovery (user_id, created_at, id);
CREATE INDEX password_recovery_expiry ON password_recovery (expires_at);

-- The helpdesk's: as much of it as a login asks for.
CREATE TABLE agent (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    login_schedule JSONB,
    created_at BIGINT NOT NULL,
    UNIQUE (router_id, user_id)
);
CREATE INDEX agent_by_user ON agent (user_id, router_id);

CREATE TABLE idempotent_request (
    principal_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    digest TEXT NOT NULL,
    status BIGINT,
    body TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (principal_id, key)
);
CREATE INDEX idempotent_request_oldest ON idempotent_request (created_at);
