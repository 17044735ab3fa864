import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptOf, kindOf, readAttachments } from '../src/files.ts';
import { contentOf, setContent, type Item } from '../src/timeline.ts';

test('what a server says of attachments is read, and nothing else', () => {
  assert.deepEqual(readAttachments({ kinds: ['document', 'image', 'paper'], maxBytes: 7 }), {
    kinds: ['image', 'document'],
    maxBytes: 7,
  });
  for (const odd of [undefined, null, 'image', [], {}, { kinds: [], maxBytes: 7 }, { kinds: ['image'] }, { kinds: 'image', maxBytes: 7 }]) {
    assert.equal(readAttachments(odd), null, JSON.stringify(odd));
  }
});

test('the field for files offers what the channel takes', () => {
  assert.equal(acceptOf({ kinds: ['image', 'audio'], maxBytes: 7 }), 'image/*,audio/*');
  assert.equal(acceptOf({ kinds: ['image', 'document'], maxBytes: 7 }), '', 'any file may be a document');
});

test('a file looks like what its type says until the server knows it', () => {
  assert.deepEqual(['image/png', 'audio/ogg', 'video/mp4', 'text/csv', ''].map(kindOf), ['image', 'audio', 'video', 'document', 'document']);
});

test('a message shows the file of the server once it has it', () => {
  const item: Item = {
    key: 'a',
    id: null,
    direction: 'in',
    content: { kind: 'media', media: 'document', link: '', caption: '', filename: 'a.png' },
    at: 1,
    place: null,
    sender: null,
    delivery: 'sending',
    error: null,
  };
  const file = { id: 'f', kind: 'image', filename: 'a.png', link: '/media/f/content' } as const;
  const [shown, other] = setContent([item, { ...item, key: 'b' }], 'a', contentOf({ kind: 'file', file }));
  assert.deepEqual(shown?.content, { kind: 'media', media: 'image', link: '/media/f/content', caption: '', filename: 'a.png' });
  assert.deepEqual(other?.content, item.content);
});
