import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkify, loadable } from '../src/linkify.ts';

const links = (text: string) => linkify(text).flatMap((piece) => (piece.href ? [piece.href] : []));

test('web addresses become links, the rest of the text stays as it is', () => {
  const text = 'Veja https://example.com/a?b=1, (http://example.org/x_(y)) e fim.';
  assert.deepEqual(links(text), ['https://example.com/a?b=1', 'http://example.org/x_(y)']);
  assert.equal(
    linkify(text)
      .map((piece) => piece.text)
      .join(''),
    text,
  );
});

test('nothing else becomes one', () => {
  for (const text of ['javascript:alert(1)', 'https://', 'data:text/html,x', 'ftp://a.b', '', 'http://.']) {
    assert.deepEqual(links(text), []);
  }
  assert.deepEqual(links('https://a.b/"onmouseover=x'), ['https://a.b/']);
});

test('the page loads only what is encrypted or its own', () => {
  const base = 'http://127.0.0.1:1/chat/x';
  assert.equal(loadable('https://cdn.example/a.png', base), 'https://cdn.example/a.png');
  assert.equal(loadable('/media/a.png', base), 'http://127.0.0.1:1/media/a.png');
  for (const bad of ['http://cdn.example/a.png', 'data:image/png;base64,x', 'javascript:1', '', null, 4]) {
    assert.equal(loadable(bad, base), null);
  }
});
