import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outbox, type OutboxEntry } from '../src/outbox.ts';
import type { Ack } from '../src/protocol.ts';

function entry(id: string): OutboxEntry {
  return { clientMessageId: id, outgoing: { kind: 'text', text: id }, at: 1, state: 'queued' };
}

function bench() {
  const wire: { id: string; answer: (ack: Ack) => void; fail: () => void }[] = [];
  const log: string[] = [];
  const timers: (() => void)[] = [];
  let kept: OutboxEntry[] = [];
  const outbox = new Outbox({
    send: (sent) =>
      new Promise((resolve, reject) => {
        wire.push({ id: sent.clientMessageId, answer: resolve, fail: () => reject(new Error('timeout')) });
      }),
    onSending: (sent) => log.push(`sending ${sent.clientMessageId}`),
    onQueued: (sent) => log.push(`queued ${sent.clientMessageId}`),
    onInterrupted: (sent) => log.push(`interrupted ${sent.clientMessageId}`),
    onSent: (sent, messageId) => log.push(`sent ${sent.clientMessageId}=${messageId}`),
    onFailed: (sent, code) => log.push(`failed ${sent.clientMessageId} ${code}`),
    onStalled: () => log.push('stalled'),
    persist: (entries) => {
      kept = entries.map((one) => ({ ...one }));
    },
    later: (run) => {
      timers.push(run);
      return () => timers.splice(timers.indexOf(run), 1);
    },
  });
  return { outbox, wire, log, timers, kept: () => kept };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const ok = (id: string): Ack => ({ ok: true, messageId: id });

test('one message at a time, in the order of writing', async () => {
  const { outbox, wire, log, kept } = bench();
  outbox.add(entry('a'));
  outbox.add(entry('b'));
  assert.equal(wire.length, 0);
  outbox.start();
  assert.deepEqual(wire.map((sent) => sent.id), ['a']);
  wire[0]?.answer(ok('1'));
  await settle();
  assert.deepEqual(wire.map((sent) => sent.id), ['a', 'b']);
  wire[1]?.answer(ok('2'));
  await settle();
  assert.deepEqual(log, ['sending a', 'sent a=1', 'sending b', 'sent b=2']);
  assert.deepEqual(kept(), []);
});

test('a lost connection repeats with the same id and ignores the late answer', async () => {
  const { outbox, wire, log } = bench();
  outbox.add(entry('a'));
  outbox.add(entry('b'));
  outbox.start();
  outbox.stop();
  outbox.start();
  assert.deepEqual(wire.map((sent) => sent.id), ['a', 'a']);
  assert.ok(log.includes('interrupted a'));
  wire[0]?.answer(ok('late'));
  await settle();
  assert.deepEqual(log.filter((line) => line.startsWith('sent')), []);
  wire[1]?.answer(ok('1'));
  await settle();
  assert.deepEqual(wire.map((sent) => sent.id), ['a', 'a', 'b']);
  assert.ok(log.includes('sent a=1'));
});

test('what was kept goes out before what is written afterwards', async () => {
  const { outbox, wire } = bench();
  outbox.add(entry('new'));
  outbox.restore([entry('old1'), entry('old2'), entry('new')]);
  outbox.start();
  for (let at = 0; at < 3; at += 1) {
    wire[at]?.answer(ok(String(at)));
    await settle();
  }
  assert.deepEqual(wire.map((sent) => sent.id), ['old1', 'old2', 'new']);
});

test('a refused message fails, the next one goes on, retry sends it last', async () => {
  const { outbox, wire, log, kept } = bench();
  outbox.add(entry('a'));
  outbox.add(entry('b'));
  outbox.start();
  wire[0]?.answer({ ok: false, code: 'text_too_long' });
  await settle();
  assert.deepEqual(wire.map((sent) => sent.id), ['a', 'b']);
  assert.ok(log.includes('failed a text_too_long'));
  assert.equal(outbox.retry('b'), null);
  assert.ok(outbox.retry('a'));
  assert.deepEqual(kept().map((one) => one.clientMessageId), ['b', 'a']);
  wire[1]?.answer(ok('1'));
  await settle();
  assert.deepEqual(wire.map((sent) => sent.id), ['a', 'b', 'a']);
});

test('a rate limit waits and repeats, and nothing overtakes', async () => {
  const { outbox, wire, timers } = bench();
  outbox.add(entry('a'));
  outbox.start();
  wire[0]?.answer({ ok: false, code: 'rate_limited' });
  await settle();
  outbox.add(entry('b'));
  assert.deepEqual(wire.map((sent) => sent.id), ['a']);
  timers[0]?.();
  assert.deepEqual(wire.map((sent) => sent.id), ['a', 'a']);
});

test('no ack: the connection is started anew, after three times the visitor decides', async () => {
  const { outbox, wire, log } = bench();
  outbox.add(entry('a'));
  for (let times = 0; times < 3; times += 1) {
    outbox.start();
    wire[times]?.fail();
    await settle();
  }
  assert.equal(log.filter((line) => line === 'stalled').length, 2);
  assert.equal(log.at(-1), 'failed a no_answer');
  assert.ok(outbox.retry('a'));
  assert.equal(wire.length, 4);
});

test('clearing forgets everything', async () => {
  const { outbox, wire, kept } = bench();
  outbox.add(entry('a'));
  outbox.clear();
  outbox.start();
  await settle();
  assert.equal(wire.length, 0);
  assert.deepEqual(kept(), []);
});
