-- The words of a name as they are searched for, joined; empty until they were made (see `contact_word`).
ALTER TABLE contact ADD COLUMN search TEXT NOT NULL DEFAULT '';
ALTER TABLE contact ADD COLUMN context TEXT;
ALTER TABLE contact ADD COLUMN last_session_summary TEXT;
CREATE INDEX contact_newest ON contact (created_at, id);
CREATE INDEX contact_by_origin ON contact (origin, created_at, id);
CREATE INDEX contact_without_words ON contact (id) WHERE search = '';

-- Words of name, identity and aliases, without accents and in lower case. SQL cannot make them.
CREATE TABLE contact_word (
    contact_id TEXT COLLATE "C" NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    word TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (contact_id, word)
);
CREATE INDEX contact_word_search ON contact_word (word, created_at, contact_id);

CREATE TABLE contact_alias (
    alias TEXT COLLATE "C" PRIMARY KEY,
    contact_id TEXT COLLATE "C" NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL
);
CREATE INDEX contact_alias_of ON contact_alias (contact_id, created_at, alias);

-- The routers that know a contact: those with a chat or an opt-in of it, and those it was created for.
CREATE TABLE contact_router (
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    contact_created_at BIGINT NOT NULL,
    contact_id TEXT COLLATE "C" NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    PRIMARY KEY (router_id, contact_created_at, contact_id)
);
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
ALTER TABLE session ADD COLUMN began_at BIGINT NOT NULL DEFAULT 0;
UPDATE session SET began_at = started_at;
CREATE INDEX session_newest ON session (began_at, id);
CREATE INDEX session_by_router ON session (router_id, began_at, id);
CREATE INDEX session_by_contact ON session (contact_id, began_at, id);

ALTER TABLE frozen_session ADD COLUMN router_id TEXT COLLATE "C";
UPDATE frozen_session
    SET router_id = (SELECT session.router_id FROM session WHERE session.id = frozen_session.session_id);
CREATE INDEX frozen_session_newest ON frozen_session (frozen_at, session_id);
CREATE INDEX frozen_session_by_router ON frozen_session (router_id, frozen_at, session_id);

-- Two visitors of one channel may be one contact, so an identity is known by its own name.
ALTER TABLE webchat_identity ADD COLUMN contact_identity TEXT COLLATE "C";
UPDATE webchat_identity SET contact_identity = contact.phone_number FROM contact WHERE contact.id = webchat_identity.contact_id;
ALTER TABLE webchat_identity ALTER COLUMN contact_identity SET NOT NULL;
ALTER TABLE webchat_identity DROP CONSTRAINT webchat_identity_channel_id_contact_id_key;
ALTER TABLE webchat_identity ADD UNIQUE (channel_id, contact_identity);
CREATE INDEX webchat_identity_of_contact ON webchat_identity (contact_id);
