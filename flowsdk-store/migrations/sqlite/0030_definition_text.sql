-- The text of a definition's author, with the keys in their order. NULL where it is not known.
ALTER TABLE flow_draft ADD COLUMN definition_text TEXT;
ALTER TABLE flow_version ADD COLUMN definition_text TEXT;
