import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tabs, type Told } from '../src/tabs.ts';

function heard(channelId: string, userId: string): { tabs: Tabs; next: Promise<Told>; all: Told[] } {
  const all: Told[] = [];
  let found: (told: Told) => void;
  const next = new Promise<Told>((resolve) => (found = resolve));
  const tabs = new Tabs(channelId, (told) => {
    all.push(told);
    found(told);
  });
  tabs.join(userId);
  return { tabs, next, all };
}

test('tabs of a visitor hear each other, and nobody else does', async () => {
  const [one, two, other, elsewhere] = [heard('c', 'ana'), heard('c', 'ana'), heard('c', 'bia'), heard('d', 'ana')];
  const told: Told = { kind: 'sending', clientMessageId: 'm1', outgoing: { kind: 'text', text: 'Hello' }, at: 7 };
  one.tabs.tell(told);
  assert.deepEqual(await two.next, told);
  two.tabs.tell({ kind: 'sent', clientMessageId: 'm1', messageId: 'x' });
  assert.deepEqual(await one.next, { kind: 'sent', clientMessageId: 'm1', messageId: 'x' });
  assert.deepEqual([one.all.length, two.all.length, other.all, elsewhere.all], [1, 1, [], []], 'nor do they hear themselves');
  // Another person at the same tab.
  one.tabs.join('bia');
  two.tabs.tell(told);
  other.tabs.tell({ kind: 'unsent', clientMessageId: 'm2' });
  while (one.all.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(one.all[1], { kind: 'unsent', clientMessageId: 'm2' });
  for (const { tabs } of [one, two, other, elsewhere]) tabs.leave();
});
