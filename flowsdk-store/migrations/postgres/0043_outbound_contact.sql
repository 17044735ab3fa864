-- The order and the pace of messages are those of their contact, who may have two forms of a number.
DROP INDEX outbound_of_recipient;
ALTER TABLE outbound RENAME COLUMN recipient TO contact_id;
UPDATE outbound SET contact_id = (
    SELECT chat.contact_id FROM message JOIN chat ON chat.id = message.chat_id WHERE message.id = outbound.message_id);
CREATE INDEX outbound_of_contact ON outbound (contact_id, phone_number_id, seq);
