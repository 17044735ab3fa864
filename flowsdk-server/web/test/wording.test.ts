import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordingOf } from '../src/wording.ts';

test('texts of the language come before those of the channel', () => {
  const appearance = { title: 'Shop', placeholder: 'Write', texts: { fr: { title: 'Boutique', placeholder: '' } } };
  const empty = { title: '', subtitle: '', placeholder: '', welcomeText: '' };
  assert.deepEqual(wordingOf(appearance, 'fr'), { ...empty, title: 'Boutique', placeholder: 'Write' });
  assert.deepEqual(wordingOf(appearance, 'de'), { ...empty, title: 'Shop', placeholder: 'Write' });
  assert.deepEqual(wordingOf(null, 'en'), empty);
  // What was stored before it was checked may be anything.
  const odd = { title: 7, texts: { en: 'x' } } as unknown as Parameters<typeof wordingOf>[0];
  assert.deepEqual(wordingOf(odd, 'en'), empty);
});
