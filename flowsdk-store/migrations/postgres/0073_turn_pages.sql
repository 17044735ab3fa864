-- A turn and a session are written several times within seconds. Room in their pages spares the new versions of their rows
-- the way into every index. Pages that are full already stay as they are.
ALTER TABLE agent_turn SET (fillfactor = 60);
ALTER TABLE session SET (fillfactor = 80);
