-- Words lose strokes too, and numbers are found without their country code: every contact gets its words anew.
UPDATE contact SET search = '';
