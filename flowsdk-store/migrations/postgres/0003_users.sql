CREATE TABLE user_account (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    phone TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    user_role TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
