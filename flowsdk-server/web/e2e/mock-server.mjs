// A stand-in for the webchat part of the server, for work on the page: `npm run dev`, then open
// /chat/demo. Other channels: secure (needs ?t=ok-<name>; t=expired and anything else are refused),
// limited (refuses the first two visits), plain (no appearance, no history), missing (unknown).

import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Server } from 'socket.io';
import { answer } from './demo-flow.mjs';

const ASSETS = join(dirname(fileURLToPath(import.meta.url)), '../../assets');
const TYPES = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', txt: 'text/plain', html: 'text/html' };
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' https:; media-src 'self' https:; base-uri 'none'; form-action 'none'";

const CHANNELS = {
  demo: {
    isTestChannel: true,
    name: 'Demonstração',
    appearance: {
      title: 'Loja Aurora',
      subtitle: 'Respondemos na hora',
      primaryColor: '#6d28d9',
      welcomeText: 'Bem-vindo! Pergunte sobre planos e pedidos.',
    },
  },
  secure: { name: 'Área do cliente', appearance: null, secret: true },
  limited: { name: 'Concorrido', appearance: null, refusals: 2 },
  plain: { name: 'Suporte', appearance: null, noHistory: true },
};

export async function startMock({ port = 0, delay = 60 } = {}) {
  const identities = new Map();
  const clock = { last: 0 };

  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.writeHead(500).end());
  });
  const io = new Server(http, { path: '/webchat/socket.io', cors: { origin: '*' } });

  async function handle(request, response) {
    const url = new URL(request.url, 'http://mock');
    const asset = /^\/chat\/assets\/([a-z-]+\.(\w+))$/i.exec(url.pathname);
    if (asset) return sendFile(response, `chat/${asset[1]}`, TYPES[asset[2]] ?? 'application/octet-stream');
    if (/^\/chat\/[^/]+$/.test(url.pathname)) return sendFile(response, 'chat/index.html', 'text/html');
    if (url.pathname === '/widget.js') return sendFile(response, 'widget/widget.js', 'text/javascript');
    if (url.pathname === '/webchat/history') return history(request, response, url);
    if (request.method === 'POST' && url.pathname.startsWith('/mock/')) return control(request, response, url);
    response.writeHead(404).end();
  }

  async function sendFile(response, name, type) {
    const body = await readFile(join(ASSETS, name)).catch(() => null);
    if (!body) return response.writeHead(404).end();
    response
      .writeHead(200, {
        'content-type': `${type}; charset=utf-8`,
        'content-security-policy': CSP,
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
      })
      .end(body);
  }

  function history(request, response, url) {
    const channelId = request.headers['x-channel-id'];
    if (!CHANNELS[channelId] || CHANNELS[channelId].noHistory) return response.writeHead(404).end();
    const bearer = /^Bearer ok-(\w+)$/.exec(request.headers.authorization ?? '')?.[1];
    const visitor = identities.get(`${channelId}/${bearer ?? request.headers['x-user-id']}`);
    if (!visitor || (!bearer && visitor.sessionKey !== request.headers['x-session-key'])) {
      return response.writeHead(401).end();
    }
    const newest = [...visitor.messages].reverse();
    const cursor = url.searchParams.get('cursor');
    const from = cursor ? newest.findIndex((message) => message.id === cursor) + 1 : 0;
    const items = newest.slice(from, from + Number(url.searchParams.get('limit') ?? 50));
    const nextCursor = from + items.length < newest.length ? items.at(-1).id : null;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items, nextCursor }));
  }

  /** What a visitor cannot bring about but the page has to cope with. */
  async function control(request, response, url) {
    let raw = '';
    for await (const chunk of request) raw += chunk;
    const body = raw ? JSON.parse(raw) : {};
    const visitors = [...identities.values()].filter((visitor) => !body.userId || visitor.userId === body.userId);
    const action = url.pathname.slice('/mock/'.length);
    for (const visitor of visitors) {
      if (action === 'forget') identities.delete(visitor.key);
      if (action === 'kick') io.to(visitor.key).disconnectSockets(true);
      if (action === 'leave') io.to(visitor.key).disconnectSockets(false);
      if (action === 'emit') io.to(visitor.key).emit(body.event, body.payload);
      if (action === 'say') for (const message of body.messages) await say(visitor, message, body.sender);
      if (action === 'fill') for (const message of body.messages) store(visitor, message, message.direction);
      if (action === 'refuse') visitor.refuse = body.code;
      if (action === 'mute') visitor.mute = body.times;
      if (action === 'noack') visitor.noack = body.times;
    }
    response.writeHead(200).end(String(visitors.length));
  }

  function store(visitor, message, direction, sender = { kind: 'flow' }) {
    // Strictly rising, so that the order of the history is the order of what happened.
    clock.last = Math.max(Date.now(), clock.last + 1);
    const stored = {
      id: `m${randomUUID().replaceAll('-', '').slice(0, 23)}`,
      ...message,
      timestamp: message.timestamp ?? new Date(clock.last).toISOString(),
      chatId: visitor.key,
      seq: visitor.messages.length + 1,
      direction: direction === 'in' ? 'in' : 'out',
      ...(direction === 'in' ? { status: 'received' } : { sender }),
    };
    visitor.messages.push(stored);
    return stored;
  }

  function wire({ direction: _direction, ...message }) {
    return message;
  }

  async function say(visitor, message, sender) {
    const stored = store(visitor, message, 'out', sender);
    io.to(visitor.key).emit('message', wire(stored));
    return stored;
  }

  function authenticate(auth) {
    const channel = CHANNELS[auth.channelId];
    if (!channel) return { code: 'channel_unknown' };
    if (channel.refusals > 0) {
      channel.refusals -= 1;
      return { code: 'rate_limited' };
    }
    if (channel.secret) {
      if (auth.token === 'expired') return { code: 'token_expired' };
      const userId = /^ok-(\w+)$/.exec(auth.token ?? '')?.[1];
      if (!userId) return { code: 'token_invalid' };
      return { visitor: find(auth.channelId, userId) ?? create(auth.channelId, userId) };
    }
    if (auth.userId || auth.sessionKey) {
      const visitor = find(auth.channelId, auth.userId);
      return visitor?.sessionKey === auth.sessionKey ? { visitor } : { code: 'identity_invalid' };
    }
    return { visitor: create(auth.channelId, `u${randomUUID().slice(0, 8)}`) };
  }

  /** Who has the session; nobody after the goodbye. */
  function modeOf(visitor) {
    return visitor.session.step ? 'flow' : null;
  }

  function find(channelId, userId) {
    return identities.get(`${channelId}/${userId}`);
  }

  function create(channelId, userId) {
    const key = `${channelId}/${userId}`;
    const visitor = { key, userId, sessionKey: randomUUID(), messages: [], acks: new Map(), session: {}, work: Promise.resolve() };
    identities.set(key, visitor);
    return visitor;
  }

  io.on('connection', (socket) => {
    const auth = socket.handshake.auth;
    const { visitor, code } = authenticate(auth);
    if (!visitor) {
      socket.emit('auth_error', { message: 'erro interno', code });
      socket.disconnect();
      return;
    }
    socket.join(visitor.key);
    const { name: channelName, appearance, isTestChannel } = CHANNELS[auth.channelId];
    const { userId, sessionKey } = visitor;
    const mode = modeOf(visitor);
    socket.emit('auth_ok', { userId, sessionKey, channelName, appearance, isTestChannel, mode });
    const at = visitor.messages.findIndex((message) => message.id === auth.since);
    if (at >= 0) {
      for (const missed of visitor.messages.slice(at + 1)) {
        if (missed.direction === 'out') socket.emit('message', wire(missed));
      }
    }

    const receive = (message, input, clientMessageId, ack) => {
      if (visitor.refuse) {
        ack?.({ ok: false, code: visitor.refuse, message: 'recusada' });
        visitor.refuse = null;
        return;
      }
      if (visitor.mute > 0) {
        visitor.mute -= 1;
        return;
      }
      const known = visitor.acks.get(clientMessageId);
      if (known) return ack?.({ ok: true, messageId: known });
      const stored = store(visitor, message, 'in');
      if (clientMessageId) visitor.acks.set(clientMessageId, stored.id);
      if (visitor.noack > 0) visitor.noack -= 1;
      else ack?.({ ok: true, messageId: stored.id });
      visitor.work = visitor.work.then(async () => {
        for (const reply of answer(visitor.session, input)) {
          io.to(visitor.key).emit('typing', { kind: 'flow' });
          await new Promise((resolve) => setTimeout(resolve, delay));
          await say(visitor, reply);
        }
        if (modeOf(visitor) === null) io.to(visitor.key).emit('session', { mode: null });
      });
    };
    socket.on('message', (body, ack) => {
      const text = typeof body?.text === 'string' ? body.text : '';
      if (text === '') return ack?.({ ok: false, code: 'text_empty', message: 'texto vazio' });
      if ([...text].length > 4096) return ack?.({ ok: false, code: 'text_too_long', message: 'texto longo demais' });
      receive({ type: 'text', text: { body: text } }, { text }, body.clientMessageId, ack);
    });
    socket.on('message_interactive', (body, ack) => {
      const { type, id, title } = body ?? {};
      if (!['button_reply', 'list_reply'].includes(type) || !id || !title) {
        return ack?.({ ok: false, code: 'invalid', message: 'inválida' });
      }
      receive({ type: 'interactive', interactive: { type, [type]: { id, title } } }, { id, title }, body.clientMessageId, ack);
    });
  });

  await new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}`,
    close: () => new Promise((resolve) => io.close(resolve)),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const mock = await startMock({ port: Number(process.env.PORT ?? 4600), delay: 500 });
  console.log(`${mock.url}/chat/demo`);
}
