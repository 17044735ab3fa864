// Holds the demonstration conversation with the stock client, over each transport, and comes back for
// what it missed. Environment: SERVER_URL (http://host:port), CHANNEL_ID.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { io } from 'socket.io-client';
import { MENU, PLANS } from './demo-flow.mjs';

const SERVER_URL = process.env.SERVER_URL;
const CHANNEL_ID = process.env.CHANNEL_ID;
const WAIT_MS = Number(process.env.WAIT_MS ?? 10_000);
/** How long nothing may follow before we believe that nothing more comes. */
const QUIET_MS = Number(process.env.QUIET_MS ?? 700);

if (!SERVER_URL || !CHANNEL_ID) {
  console.error('SERVER_URL and CHANNEL_ID have to be set');
  process.exit(2);
}

class Visitor {
  constructor(transport, auth) {
    this.inbox = [];
    this.taken = 0;
    this.socket = io(SERVER_URL, {
      path: '/webchat/socket.io',
      transports: [transport],
      reconnection: false,
      forceNew: true,
      auth,
    });
    this.socket.on('message', (message, ack) => {
      this.inbox.push(message);
      if (typeof ack === 'function') ack({ ok: true });
    });
  }

  once(event) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${event} within ${WAIT_MS} ms`)), WAIT_MS);
      const end = (settle) => (value) => {
        clearTimeout(timer);
        settle(value);
      };
      this.socket.once(event, end(resolve));
      this.socket.once('connect_error', end(reject));
    });
  }

  async emit(event, body) {
    const ack = await this.socket.timeout(WAIT_MS).emitWithAck(event, body);
    assert.equal(ack?.ok, true, `${event} was not accepted: ${JSON.stringify(ack)}`);
    assert.ok(typeof ack.messageId === 'string' && ack.messageId !== '', 'the ack carries the message id');
    return ack.messageId;
  }

  text(text, clientMessageId = randomUUID()) {
    return this.emit('message', { text, clientMessageId });
  }

  choose(type, { id, title }) {
    return this.emit('message_interactive', { type, id, title, clientMessageId: randomUUID() });
  }

  async expect(...wanted) {
    const until = Date.now() + WAIT_MS;
    while (this.inbox.length < this.taken + wanted.length && Date.now() < until) await pause(20);
    const got = this.inbox.slice(this.taken, this.taken + wanted.length);
    this.taken += got.length;
    assert.deepEqual(got.map(essence), wanted.map(essence));
    return got;
  }

  async expectNothing() {
    await pause(QUIET_MS);
    assert.deepEqual(this.inbox.slice(this.taken).map(essence), [], 'nothing else may arrive');
  }

  close() {
    this.socket.disconnect();
  }
}

/** What the visitor sees of a message; the server may add further fields to it. */
function essence(message) {
  if (message.type !== 'interactive') return message.text?.body ?? message;
  const { type, body, action } = message.interactive;
  const options =
    type === 'button'
      ? action.buttons.map(({ reply }) => `${reply.id}/${reply.title}`)
      : action.sections.flatMap(({ rows }) => rows.map((row) => `${row.id}/${row.title}`));
  return { type, body: body.text, opener: action.button ?? null, options };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const say = (body) => ({ type: 'text', text: { body } });
const button = (id) => MENU.interactive.action.buttons.find(({ reply }) => reply.id === id).reply;
const row = (id) => PLANS.interactive.action.sections[0].rows.find((one) => one.id === id);

async function connect(transport, auth) {
  const visitor = new Visitor(transport, auth);
  const answer = visitor.once('auth_ok');
  answer.catch(() => visitor.close());
  return { visitor, auth: await answer };
}

async function converse(transport) {
  const { visitor, auth } = await connect(transport, { channelId: CHANNEL_ID });
  assert.equal(visitor.socket.io.engine.transport.name, transport);
  assert.ok(auth.userId && auth.sessionKey, 'a new visit gets an identity');
  assert.equal(typeof auth.channelName, 'string');
  assert.ok('appearance' in auth);

  const ids = [];
  const keep = (id) => ids.push(id);
  const take = async (...wanted) => {
    for (const message of await visitor.expect(...wanted)) {
      assert.ok(!Number.isNaN(new Date(message.timestamp).getTime()), 'a message has a time');
      assert.equal(message.sender?.kind, 'flow');
      keep(message.id);
    }
  };

  keep(await visitor.text('oi'));
  await take(say('Olá! 👋 Eu sou o assistente de demonstração do FlowSDK. Como você se chama?'));
  keep(await visitor.text('Ana'));
  await take(say('Prazer, Ana!'), MENU);
  keep(await visitor.text('não sei'));
  await take(say('Por favor, escolha uma das opções.'));
  keep(await visitor.choose('button_reply', button('plans')));
  await take(PLANS);
  keep(await visitor.choose('list_reply', row('pro')));
  await take(say('Boa escolha, Ana: Profissional.'), MENU);
  keep(await visitor.choose('button_reply', button('order')));
  await take(say('Quantas unidades? (1 a 10)'));
  keep(await visitor.text('abc'));
  await take(say('Digite um número de 1 a 10.'));

  // The same message twice, as after a lost ack: stored once, answered once, acknowledged with the same id.
  const repeated = randomUUID();
  const first = await visitor.text('7', repeated);
  keep(first);
  assert.equal(await visitor.text('7', repeated), first);
  await take(say('Pedido grande: 7 unidades. Vamos dar desconto!'), MENU);
  await visitor.expectNothing();

  const refused = await visitor.socket.timeout(WAIT_MS).emitWithAck('message', { text: '' });
  assert.equal(refused?.ok, false, 'an empty text is refused');
  assert.equal(typeof refused.code, 'string');
  assert.equal(new Set(ids).size, ids.length, 'every message has an id of its own');

  const since = ids.at(-1);
  visitor.close();
  await missed(transport, auth, since);
  await history(auth, ids);
  await strangers(transport, auth);
  return ids.length;
}

/** One of two devices is away while the other one goes on; coming back it gets exactly what it missed. */
async function missed(transport, auth, since) {
  const identity = { channelId: CHANNEL_ID, userId: auth.userId, sessionKey: auth.sessionKey };
  const other = await connect(transport, { ...identity, since });
  assert.equal(other.auth.userId, auth.userId);
  assert.equal(other.auth.sessionKey, auth.sessionKey);
  await other.visitor.expectNothing();
  await other.visitor.choose('button_reply', button('order'));
  const asked = await other.visitor.expect(say('Quantas unidades? (1 a 10)'));
  await other.visitor.text('3');
  const done = await other.visitor.expect(say('Pedido de 3 unidades anotado.'), MENU);
  const lived = [...asked, ...done];
  other.visitor.close();

  const back = await connect(transport, { ...identity, since });
  const replayed = await back.visitor.expect(...lived);
  assert.deepEqual(
    replayed.map((message) => message.id),
    lived.map((message) => message.id),
    'the replay repeats the ids',
  );
  await back.visitor.expectNothing();
  back.visitor.close();

  const part = await connect(transport, { ...identity, since: lived[0].id });
  await part.visitor.expect(...lived.slice(1));
  await part.visitor.expectNothing();

  await part.visitor.choose('button_reply', button('bye'));
  await part.visitor.expect(say('Até logo, Ana!'));
  await part.visitor.text('oi de novo');
  await part.visitor.expect(say('Olá! 👋 Eu sou o assistente de demonstração do FlowSDK. Como você se chama?'));
  await part.visitor.expectNothing();
  part.visitor.close();
}

async function history(auth, ids) {
  const headers = { 'x-channel-id': CHANNEL_ID, 'x-user-id': auth.userId, 'x-session-key': auth.sessionKey };
  const seen = [];
  let cursor = null;
  do {
    const url = new URL('/webchat/history?limit=7', SERVER_URL);
    if (cursor) url.searchParams.set('cursor', cursor);
    const response = await fetch(url, { headers });
    assert.equal(response.status, 200);
    const page = await response.json();
    assert.ok(page.items.length <= 7);
    seen.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor);
  const known = seen.map((item) => item.id).reverse();
  assert.equal(new Set(known).size, known.length, 'pages do not overlap');
  assert.deepEqual(known.slice(0, ids.length), ids, 'the history has the order of the conversation');
  assert.ok(seen.every((item) => item.direction === 'in' || item.direction === 'out'));
  const wrong = await fetch(new URL('/webchat/history', SERVER_URL), { headers: { ...headers, 'x-session-key': 'x' } });
  assert.ok(wrong.status >= 400, 'a wrong key reads nothing');
}

/** A wrong key and an unknown channel are refused by an event, then the server hangs up. */
async function strangers(transport, auth) {
  const cases = [
    [{ channelId: CHANNEL_ID, userId: auth.userId, sessionKey: 'wrong' }, 'identity_invalid'],
    [{ channelId: 'no-such-channel' }, 'channel_unknown'],
  ];
  for (const [handshake, code] of cases) {
    const visitor = new Visitor(transport, handshake);
    let accepted = false;
    visitor.socket.on('auth_ok', () => {
      accepted = true;
    });
    const gone = visitor.once('disconnect');
    gone.catch(() => {});
    const error = await visitor.once('auth_error');
    assert.equal(error.code, code);
    assert.equal(error.message, 'erro interno');
    await gone;
    assert.equal(accepted, false);
    visitor.close();
  }
}

const result = { ok: true, transports: {} };
for (const transport of ['websocket', 'polling']) {
  try {
    result.transports[transport] = { messages: await converse(transport) };
  } catch (error) {
    result.ok = false;
    result.transports[transport] = { error: error.message };
    console.error(error);
  }
}
console.log(JSON.stringify(result));
process.exit(result.ok ? 0 : 1);
