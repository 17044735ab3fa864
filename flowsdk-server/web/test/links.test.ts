import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLinks, loadable } from '../src/links.ts';

const links = (text: string) => findLinks(text).flatMap((piece) => (piece.href ? [piece.href] : []));

test('web addresses become links, the rest of the text stays as it is', () => {
  const text = 'Veja https://example.com/a?b=1, (http://example.org/x_(y)) e fim.';
  assert.deepEqual(links(text), ['https://example.com/a?b=1', 'http://example.org/x_(y)']);
  assert.equal(
    findLinks(text)
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

test('mail addresses and telephone numbers that look like nothing else', () => {
  for (const [text, expected] of [
    ['Write to help@shop.example.', 'mailto:help@shop.example'],
    ['a+b@c.example', 'mailto:a%2Bb@c.example'],
    ['a@b', null],
    ['x@y.z@w.v', null],
    ['Call +55 11 91234-5678, please', 'tel:+5511912345678'],
    ['+1 (212) 555-0100', 'tel:+12125550100'],
    ['(11) 91234-5678', 'tel:11912345678'],
    ['(11) 3333', null],
    ['+1 234', null],
    ['2024-01-15 10:30', null],
    ['order 1234567890', null],
    ['4+551191234567', null],
    ['+123456789012345678', null],
  ] as const) {
    assert.deepEqual(links(text), expected ? [expected] : [], text);
    assert.equal(findLinks(text).map((piece) => piece.text).join(''), text);
  }
});

test('the page loads only what is encrypted or its own', () => {
  const base = 'http://127.0.0.1:1/chat/x';
  assert.equal(loadable('https://cdn.example/a.png', base), 'https://cdn.example/a.png');
  assert.equal(loadable('/media/a.png', base), 'http://127.0.0.1:1/media/a.png');
  for (const bad of ['http://cdn.example/a.png', 'data:image/png;base64,x', 'javascript:1', '', null, 4]) {
    assert.equal(loadable(bad, base), null);
  }
});
