import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readContent } from '../src/content.ts';

test('broken content never throws', () => {
  for (const message of [
    { id: '1', type: 'interactive' },
    { id: '1', type: 'interactive', interactive: { type: 'carousel' } },
    { id: '1', type: 'image', image: {} },
    { id: '1', type: 'image', image: null },
    { id: '1', type: 'sticker', sticker: { link: 'x' } },
  ]) {
    assert.equal(readContent(message).kind, 'unsupported');
  }
  assert.deepEqual(readContent({ id: '1', type: 'text' }), { kind: 'text', text: '' });
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

test('the choice of the visitor as the history returns it', () => {
  const content = readContent({
    id: '1',
    type: 'interactive',
    interactive: { type: 'list_reply', list_reply: { id: 'pro', title: 'Profissional' } },
  });
  assert.deepEqual(content, { kind: 'choice', id: 'pro', title: 'Profissional' });
});
