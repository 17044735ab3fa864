-- What visitors of a channel may send beside texts.
ALTER TABLE webchat_channel ADD COLUMN attachments TEXT;
