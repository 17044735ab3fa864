-- The digest of a visitor's key, which is checked without bcrypt. Written with the identity, or when its key was right.
ALTER TABLE webchat_identity ADD COLUMN session_key_digest TEXT;
