import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelope, PROTOCOL, readLooks, readToFrame, readToHost } from '../src/embedding.ts';

test('what one side says, the other reads', () => {
  for (const message of [
    { type: 'hello', token: 'a.b.c', language: 'es', shown: true },
    { type: 'token', token: null },
    { type: 'show' },
    { type: 'hide' },
  ] as const) {
    assert.deepEqual(readToFrame(envelope(message)), message);
    assert.equal(readToHost(envelope(message)), null, 'nobody takes his own words for those of the other');
  }
  for (const message of [
    { type: 'ready' },
    { type: 'message', text: 'Hello' },
    { type: 'unread', count: 0 },
    { type: 'token-expired' },
    { type: 'close' },
  ] as const) {
    assert.deepEqual(readToHost(envelope(message)), message);
    assert.equal(readToFrame(envelope(message)), null);
  }
});

test('looks are an object', () => {
  const looks = { primaryColor: '#0a7d4f' };
  assert.deepEqual(readLooks({ flowsdk: PROTOCOL, type: 'looks', looks }), looks);
  for (const wrong of [null, 'red', [1], undefined]) assert.equal(readLooks({ flowsdk: PROTOCOL, type: 'looks', looks: wrong }), null);
  assert.equal(readLooks({ type: 'looks', looks }), null);
  assert.equal(readLooks({ flowsdk: PROTOCOL, type: 'hello', looks }), null);
});

test('messages of others, of other versions and without sense are ignored', () => {
  for (const data of [
    null,
    'hello',
    7,
    [],
    { type: 'show' },
    { flowsdk: 2, type: 'show' },
    { flowsdk: '1', type: 'close' },
    { flowsdk: 1 },
    { flowsdk: 1, type: 'eval', code: '1' },
    { flowsdk: 1, type: 'unread', count: -1 },
    { flowsdk: 1, type: 'unread', count: '3' },
    { flowsdk: 1, type: 'unread', count: 1e300 },
  ]) {
    assert.equal(readToFrame(data), null, JSON.stringify(data));
    assert.equal(readToHost(data), null, JSON.stringify(data));
  }
});

test('fields of a wrong type are as if they were missing', () => {
  assert.deepEqual(readToFrame({ flowsdk: 1, type: 'hello', token: 7, language: '', shown: 'yes' }), {
    type: 'hello',
    token: null,
    language: null,
    shown: false,
  });
  assert.deepEqual(readToHost({ flowsdk: 1, type: 'message', text: { html: '<b>' } }), { type: 'message', text: '' });
});
