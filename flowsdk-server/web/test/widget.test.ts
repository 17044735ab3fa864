import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Emitter } from '../src/widget/events.ts';
import { DEFAULTS, withOptions } from '../src/widget/options.ts';

test('usable options are taken, the others are named', () => {
  const refused: string[] = [];
  const given = {
    position: 'left',
    color: '#0a7',
    greeting: 'Hello',
    label: 7,
    language: 'es',
    colour: '#fff',
    __proto__: { position: 'right' },
  };
  const options = withOptions(DEFAULTS, given, (name) => refused.push(name));
  assert.deepEqual(options, { ...DEFAULTS, position: 'left', color: '#0a7', greeting: 'Hello', language: 'es' });
  assert.deepEqual(refused, ['label', 'colour']);
  const worse = { position: 'top', color: 'red; background: url(//x)' };
  assert.deepEqual(withOptions(options, worse, () => {}), options);
});

test('listeners hear until they leave, and one that throws stops nobody', () => {
  const complaint = mock.method(console, 'error', () => {});
  const events = new Emitter();
  const heard: string[] = [];
  const hear = ({ count }: { count: number }) => void heard.push(`a${count}`);
  const leave = events.on('unread', hear);
  events.on('unread', hear);
  events.on('unread', () => {
    throw new Error('theirs');
  });
  events.on('unread', ({ count }) => void heard.push(`b${count}`));
  events.emit('unread', { count: 1 });
  leave();
  leave();
  events.emit('unread', { count: 2 });
  assert.deepEqual(heard, ['a1', 'a1', 'b1', 'a2', 'b2']);
  assert.equal(complaint.mock.callCount(), 2);
  assert.throws(() => events.on('constructor' as 'open', () => {}), TypeError);
  assert.throws(() => events.on('open', 'x' as unknown as () => void), TypeError);
});
