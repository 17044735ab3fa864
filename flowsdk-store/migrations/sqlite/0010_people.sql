-- The words of a name as they are searched for, joined; empty until they were made (see `contact_word`).
ALTER TABLE contact ADD COLUMN search TEXT NOT NULL DEFAULT '';
ALTER TABLE contact ADD COLUMN context TEXT;
ALTER TABLE contact ADD COLUMN last_session_summary TEXT;
CREATE INDEX contact_newest ON contact (created_at, id);
CREATE INDEX contact_by_origin ON contact (origin, created_at, id);
CREATE INDEX contact_without_words ON contact (id) WHERE search = '';

-- Words of name, identity and aliases, without accents and in lower case. SQL cannot make them.
CREATE TABLE contact_word (
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    word TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (contact_id, word)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_word_search ON contact_word (word, created_at, contact_id);

CREATE TABLE contact_alias (
    alias TEXT PRIMARY KEY,
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_alias_of ON contact_alias (contact_id, created_at, alias);

-- The routers that know a contact: those with a chat or an opt-in of it, and those it was created for.
CREATE TABLE contact_router (
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    contact_created_at INTEGER NOT NULL,
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    PRIMARY KEY (router_id, contact_created_at, contact_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX contact_router_once ON contact_router (contact_id, router_id);
INSERT INTO contact_router (router_id, contact_created_at, contact_id)
    SELECT DISTINCT chat.router_id, contact.created_at, contact.id
    FROM chat JOIN contact ON contact.id = chat.contact_id WHERE chat.router_id IS NOT NULL
    UNION SELECT contact_opt_in.router_id, contact.created_at, contact.id
    FROM contact_opt_in JOIN contact ON contact.id = contact_opt_in.contact_id;

CREATE INDEX contact_opt_in_history ON contact_opt_in (contact_id, recorded_at, id);
CREATE INDEX contact_opt_in_by_status ON contact_opt_in (router_id, status, recorded_at, id);

ALTER TABLE chat ADD COLUMN summary TEXT;
CREATE INDEX chat_newest ON chat (created_at, id);
CREATE INDEX chat_by_router ON chat (router_id, created_at, id);
CREATE INDEX chat_open_newest ON chat (created_at, id) WHERE status = 'open';
CREATE INDEX chat_open_by_router ON chat (router_id, created_at, id) WHERE status = 'open';

-- When the row was inserted. Turns write `started_at`, and must not touch the indices of the lists.
ALTER TABLE session ADD COLUMN began_at INTEGER NOT NULL DEFAULT 0;
UPDATE session SET began_at = started_at;
CREATE INDEX session_newest ON session (began_at, id);
CREATE INDEX session_by_router ON session (router_id, began_at, id);
CREATE INDEX session_by_contact ON session (contact_id, began_at, id);

ALTER TABLE frozen_session ADD COLUMN router_id TEXT;
UPDATE frozen_session
    SET router_id = (SELECT session.router_id FROM session WHERE session.id = frozen_session.session_id);
CREATE INDEX frozen_session_newest ON frozen_session (frozen_at, session_id);
CREATE INDEX frozen_session_by_router ON frozen_session (router_id, frozen_at, session_id);

-- Two visitors of one channel may be one contact, so an identity is known by its own name.
CREATE TABLE webchat_identity_of_visitor (
    id TEXT PRIMARY KEY,
    channel_id TEXT NOT NULL REFERENCES webchat_channel (id) ON DELETE CASCADE,
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    contact_identity TEXT NOT NULL,
    session_key_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (channel_id, contact_identity)
) STRICT;
INSERT INTO webchat_identity_of_visitor (id, channel_id, contact_id, contact_identity, session_key_hash, created_at)
    SELECT webchat_identity.id, channel_id, contact_id, contact.phone_number, session_key_hash, webchat_identity.created_at
    FROM webchat_identity JOIN contact ON contact.id = webchat_identity.contact_id;
DROP TABLE webchat_identity;
ALTER TABLE webchat_identity_of_visitor RENAME TO webchat_identity;
CREATE INDEX webchat_identity_of_contact ON webchat_identity (contact_id);
