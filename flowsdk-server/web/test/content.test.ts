import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText, readContent } from '../src/content.ts';

test('broken content never throws', () => {
  for (const message of [
    { id: '1', type: 'interactive' },
    { id: '1', type: 'interactive', interactive: { type: 'carousel' } },
    { id: '1', type: 'image', image: {} },
    { id: '1', type: 'image', image: null },
    { id: '1', type: 'sticker', sticker: {} },
    { id: '1', type: 'location', location: { latitude: 'north' } },
    { id: '1', type: 'contacts', contacts: [{}, null] },
    { id: '1', type: 'contacts', contacts: {} },
    { id: '1', type: 'reaction', reaction: { emoji: 7 } },
  ]) {
    assert.equal(readContent(message).kind, 'unsupported');
  }
  assert.deepEqual(readContent({ id: '1', type: 'text' }), { kind: 'text', text: '' });
});

test('links, forms, places, cards and reactions', () => {
  const interactive = (type: string, parameters: object) =>
    readContent({ id: '1', type: 'interactive', interactive: { type, body: { text: 'B' }, action: { parameters } } });
  const frame = { header: null, text: 'B', footer: '' };
  assert.deepEqual(interactive('cta_url', { display_text: 'Open', url: 'https://a.example' }), {
    kind: 'link',
    ...frame,
    label: 'Open',
    href: 'https://a.example',
  });
  assert.deepEqual(interactive('flow', { flow_cta: 'Fill in' }), { kind: 'form', ...frame, label: 'Fill in', parameters: { flow_cta: 'Fill in' } });
  const place = readContent({ id: '1', type: 'location', location: { latitude: -23.5, longitude: '-46.6', name: 'Shop' } });
  assert.deepEqual(place, { kind: 'place', name: 'Shop', address: '', latitude: -23.5, longitude: -46.6 });
  assert.equal(plainText(place), 'Shop');
  const cards = readContent({
    id: '1',
    type: 'contacts',
    contacts: [{ name: { formatted_name: 'Ana' }, phones: [{ phone: '+55 11 98765-4321' }, {}], org: { company: 'Loja' } }],
  });
  assert.deepEqual(cards, {
    kind: 'cards',
    cards: [{ name: 'Ana', organisation: 'Loja', phones: ['+55 11 98765-4321'], emails: [], urls: [] }],
  });
  assert.equal(plainText(readContent({ id: '1', type: 'reaction', reaction: { emoji: '👍' } })), '👍');
});

test('a header may be a file', () => {
  const withHeader = (header: object) =>
    readContent({ id: '1', type: 'interactive', interactive: { type: 'button', header, body: { text: 'B' } } });
  const file = withHeader({ type: 'document', document: { link: 'https://a.example/a.pdf', filename: 'a.pdf' } });
  assert.deepEqual(file.kind === 'buttons' && file.header, {
    file: { media: 'document', link: 'https://a.example/a.pdf', filename: 'a.pdf' },
  });
  const none = withHeader({ type: 'video', video: {} });
  assert.equal(none.kind === 'buttons' && none.header, null);
});

test('buttons and lists drop entries that cannot be answered', () => {
  const buttons = readContent({
    id: '1',
    type: 'interactive',
    interactive: {
      type: 'button',
      header: { type: 'text', text: 'H' },
      body: { text: 'B' },
      action: { buttons: [{ type: 'reply', reply: { id: 'a', title: 'A' } }, { reply: { id: 'b' } }, null] },
    },
  });
  assert.equal(buttons.kind, 'buttons');
  assert.deepEqual(buttons.kind === 'buttons' && buttons.buttons, [{ id: 'a', title: 'A' }]);
  const list = readContent({
    id: '1',
    type: 'interactive',
    interactive: { type: 'list', body: { text: 'B' }, action: { button: 'Open', sections: [{ rows: [] }, {}] } },
  });
  assert.deepEqual(list.kind === 'list' && list.sections, []);
});

test('the tap on a quick reply of a template says its text', () => {
  const tap = readContent({ id: '2', type: 'button', button: { payload: 'y', text: 'Yes' } });
  assert.deepEqual(tap, { kind: 'text', text: 'Yes' });
});

test('the choice of the visitor as the history returns it', () => {
  const content = readContent({
    id: '1',
    type: 'interactive',
    interactive: { type: 'list_reply', list_reply: { id: 'pro', title: 'Profissional' } },
  });
  assert.deepEqual(content, { kind: 'choice', id: 'pro', title: 'Profissional' });
});
