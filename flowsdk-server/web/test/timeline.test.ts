import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addIncoming,
  addLocal,
  arrived,
  confirm,
  fromVisitor,
  fromWire,
  isOpen,
  lastKnownId,
  lastOf,
  leavesGap,
  mergeHistory,
  parseTime,
  prependHistory,
  setDelivery,
  type Item,
} from '../src/timeline.ts';

const out = (id: string) => fromWire({ id, type: 'text', text: { body: id } }, 0);
const inbound = (id: string) => fromWire({ id, type: 'text', text: { body: id }, direction: 'in' }, 0);
const local = (key: string) => fromVisitor(key, { kind: 'text', text: key }, 0);
const keys = (items: readonly Item[]) => items.map((item) => item.key);

test('a repeated message is shown once', () => {
  const items = addIncoming(addIncoming([], out('1')), out('1'));
  assert.deepEqual(keys(items), ['1']);
});

test('what has not left the page stays below what arrives', () => {
  let items = addLocal([out('1')], local('a'));
  items = addLocal(items, local('b'));
  items = addIncoming(items, out('2'));
  assert.deepEqual(keys(items), ['1', '2', 'a', 'b']);
  items = setDelivery(items, 'a', 'sending');
  items = addIncoming(items, out('3'));
  assert.deepEqual(keys(items), ['1', '2', 'a', '3', 'b']);
});

test('an ack gives the message its id, or removes the copy the history has shown already', () => {
  let items = addLocal([], local('a'));
  items = confirm(items, 'a', '1');
  assert.equal(items[0]?.id, '1');
  assert.equal(items[0]?.delivery, 'sent');
  items = addLocal([inbound('2'), out('3')], local('b'));
  assert.deepEqual(keys(confirm(items, 'b', '2')), ['2', '3']);
});

test('older pages go on top in order and without repetitions', () => {
  const items = prependHistory([out('3'), out('4')], [out('3'), out('2'), out('1')]);
  assert.deepEqual(keys(items), ['1', '2', '3', '4']);
});

const menu = (id: string) =>
  fromWire({ id, type: 'interactive', interactive: { type: 'button', body: { text: id }, action: {} } }, 0);
const choice = (key: string, id: string) =>
  fromVisitor(key, { kind: 'choice', choice: { type: 'button_reply', id, title: id } }, 0);

test('the history settles where a message with a lost ack belongs', () => {
  const shown = [out('1'), out('2'), out('4'), ...confirm([local('a')], 'a', '3'), out('6'), local('b')];
  const merged = mergeHistory(shown, [out('5'), out('4'), inbound('3'), out('2')]);
  assert.deepEqual(keys(merged), ['1', '2', 'a', '4', '5', '6', 'b']);
  assert.deepEqual(keys(mergeHistory([local('b')], [out('1')])), ['b']);
});

test('what the flow still holds back is not taken from the history', () => {
  const shown = [out('1'), local('a')];
  const page = [out('6'), inbound('5'), out('4'), inbound('3'), out('1'), out('0')];
  assert.deepEqual(keys(arrived(shown, page)), ['5', '3', '1', '0']);
  assert.deepEqual(keys(arrived([...shown, out('4')], page)), ['5', '4', '3', '1', '0']);
  assert.deepEqual(keys(arrived([local('a')], [out('2'), inbound('1')])), ['1']);
});

test('the numbers of the chat decide the order and what is a repetition, whatever comes first', () => {
  const numbered = (id: string, seq: number, chatId = 'c') =>
    fromWire({ id, type: 'text', text: { body: id }, seq, chatId, timestamp: 1_800_000_000_000 - seq }, 0);
  const later = addIncoming([], numbered('3', 3));
  const items = addIncoming(addLocal(later, local('a')), numbered('2', 2));
  assert.deepEqual(keys(items), ['2', '3', 'a']);
  assert.deepEqual(keys(addIncoming(items, numbered('4', 4))), ['2', '3', '4', 'a']);
  assert.deepEqual(keys(addIncoming(items, numbered('3', 3))), ['2', '3', 'a']);
  // The next chat counts from 1 again.
  assert.deepEqual(keys(addIncoming(items, numbered('n', 1, 'd'))), ['2', '3', 'n', 'a']);
});

test('options close with a choice; a failed one or a text written instead leaves them open', () => {
  let items = addLocal([inbound('0'), menu('1')], local('a'));
  items = addIncoming(items, out('2'));
  assert.equal(isOpen(items, 1), true);
  items = addLocal(items, choice('b', 'plans'));
  assert.equal(isOpen(items, 1), false);
  items = setDelivery(items, 'b', 'failed');
  assert.equal(isOpen(items, 1), true);
});

test('newer options close older ones', () => {
  const items = [menu('1'), local('a'), menu('2')];
  assert.equal(isOpen(items, 0), false);
  assert.equal(isOpen(items, 2), true);
});

test('a replay starts after the last message of the service, else after the own one', () => {
  assert.equal(lastKnownId([]), null);
  assert.equal(lastKnownId([local('a')]), null);
  assert.equal(lastKnownId(confirm([local('a')], 'a', '1')), '1');
  assert.equal(lastKnownId([out('1'), inbound('2'), local('a')]), '1');
});

test('times of several notations', () => {
  assert.equal(parseTime('2026-01-02T03:04:05.006Z', 0), Date.UTC(2026, 0, 2, 3, 4, 5, 6));
  assert.equal(parseTime(1767323045, 0), 1767323045000);
  assert.equal(parseTime('1767323045006', 0), 1767323045006);
  assert.equal(parseTime('yesterday', 7), 7);
  assert.equal(parseTime(undefined, 7), 7);
});

test('numbers tell of messages that were written elsewhere', () => {
  const numbered = (id: string, seq: number, direction: 'in' | 'out' = 'out', chatId = 'c') =>
    fromWire({ id, type: 'text', text: { body: id }, chatId, seq, direction }, 0);
  const sent = confirm([local('a')], 'a', '2');
  assert.equal(leavesGap([], numbered('1', 1)), false, 'a greeting');
  assert.equal(leavesGap([numbered('1', 1)], numbered('2', 2)), false);
  assert.equal(leavesGap([numbered('1', 1), ...sent], numbered('3', 3)), false, 'one of this page stands between');
  assert.equal(leavesGap([numbered('1', 1)], numbered('3', 3)), true, 'one of another device');
  assert.equal(leavesGap([numbered('1', 1), ...sent], numbered('4', 4)), true, 'one of each');
  assert.equal(leavesGap([...sent, numbered('3', 3)], numbered('5', 5)), true, 'the first is behind');
  assert.equal(leavesGap([numbered('9', 9, 'out', 'b')], numbered('2', 2)), true, 'the first of a new chat is missing');
  assert.equal(leavesGap([numbered('1', 1), local('queued')], numbered('3', 3)), true, 'what waits is not stored');
  assert.equal(leavesGap([numbered('4', 4)], numbered('2', 2)), false, 'it comes late');
  assert.equal(leavesGap([], out('1')), false, 'a server that numbers nothing');
});

test('what stands before an answer was read', () => {
  assert.equal(lastOf('out', []), -1);
  assert.equal(lastOf('out', [inbound('1')]), -1);
  assert.equal(lastOf('out', [inbound('1'), out('2'), inbound('3')]), 1);
  assert.equal(lastOf('in', [inbound('1'), out('2'), inbound('3'), out('4')]), 2);
});
