import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Emitter } from '../src/widget/events.ts';
import { DEFAULTS, drawn, languageOf, withOptions, type Looks } from '../src/widget/options.ts';

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
  const options = withOptions({}, given, (name) => refused.push(name));
  assert.deepEqual(options, { position: 'left', color: '#0a7', greeting: 'Hello', language: 'es' });
  assert.deepEqual(refused, ['label', 'colour']);
  const worse = { position: 'top', color: 'red; background: url(//x)', language: 'xx' };
  assert.deepEqual(withOptions(options, worse, () => {}), options);
});

test('the page wins over the channel, and the channel over the defaults', () => {
  const looks: Looks = {
    primaryColor: '#0a7d4f',
    language: 'fr',
    launcher: { position: 'left', greeting: 'Hello', label: 'Chat with us' },
    texts: { fr: { greeting: 'Bonjour' } },
  };
  const ofChannel: typeof DEFAULTS = {
    ...DEFAULTS,
    position: 'left',
    color: '#0a7d4f',
    greeting: 'Hello',
    label: 'Chat with us',
  };
  assert.equal(languageOf({}, looks), 'fr');
  assert.equal(languageOf({ language: 'es-MX' }, looks), 'es');
  assert.deepEqual(drawn({}, {}, 'en'), DEFAULTS);
  assert.deepEqual(drawn({}, looks, 'en'), ofChannel);
  assert.deepEqual(drawn({}, looks, 'fr'), { ...ofChannel, greeting: 'Bonjour' });
  assert.deepEqual(drawn({ greeting: '' }, looks, 'fr'), { ...ofChannel, greeting: '' });
  assert.equal(drawn({}, { ...looks, launcher: { color: '#333' } }, 'en').color, '#333');
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
