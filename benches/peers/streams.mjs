// The peer of the streams race: Socket.IO, ioredis and pg on Redis Streams and PostgreSQL, as a Node team would write it.
//
//   node streams.mjs PORT POSTGRES REDIS
//
// A message goes into the stream `inbound`. Its consumer reads up to 100, stores the row of each message, runs one step
// of a flow of three blocks, saves the session and the row of the answer, puts the answers into the stream `outbound`
// and acknowledges the batch at once. The gateway reads `outbound` in the same way, sends, and notes `delivered`.
//
// Without BATCHED every turn is a transaction of its own, 16 at a time. With BATCHED=1 a batch is one transaction with
// statements of many rows.
//
// What a process that died left behind is done at the next start: entries that were not acknowledged, unless their row
// is there, and answers that are still `pending`.
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import pg from 'pg';
import { Server } from 'socket.io';
import { begin, nextId, step } from './ring.mjs';

const [port, postgres, redisUrl] = process.argv.slice(2);
const batched = process.env.BATCHED === '1';
const AT_ONCE = 16;
const BATCH = 100;
const KEPT = 100_000;

const pool = new pg.Pool({ connectionString: postgres, max: AT_ONCE, options: '-c enable_seqscan=off' });
const redis = new Redis(redisUrl, { enableAutoPipelining: true });

await pool.query(`
  CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text NOT NULL, chat_id text NOT NULL, dir text NOT NULL,
                                      body text NOT NULL, status text NOT NULL, created_at bigint NOT NULL);
  CREATE INDEX IF NOT EXISTS message_by_chat ON message (chat_id, created_at);
  CREATE INDEX IF NOT EXISTS message_pending ON message (id) WHERE status = 'pending';
  CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, state text NOT NULL) WITH (fillfactor = 70);
`);

const findSession = { name: 'find-session', text: 'SELECT state FROM session WHERE id = $1' };
const findSessions = { name: 'find-sessions', text: 'SELECT id, state FROM session WHERE id = ANY($1)' };
const insertBoth = {
  name: 'insert-both',
  text: `INSERT INTO message VALUES ($1, $2, $3, 'in', $4, 'received', $5), ($6, $2, $3, 'out', $7, 'pending', $8)`,
};
const insertMessages = {
  name: 'insert-messages',
  text: `INSERT INTO message
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])`,
};
const saveSession = {
  name: 'save-session',
  text: 'INSERT INTO session VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET state = excluded.state',
};
const saveSessions = {
  name: 'save-sessions',
  text: `INSERT INTO session SELECT * FROM unnest($1::text[], $2::text[])
         ON CONFLICT (id) DO UPDATE SET state = excluded.state`,
};
const setDelivered = { name: 'set-delivered', text: `UPDATE message SET status = 'delivered' WHERE id = ANY($1)` };

async function transaction(work) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A connection in an unknown state is not used again.
    client.release(error);
    throw error;
  }
}

// The turns of one session, one after the other, each in a transaction.
async function turnsOfSession(events) {
  const answers = [];
  for (const event of events) {
    answers.push(await transaction(async (client) => {
      const { rows: [row] } = await client.query({ ...findSession, values: [event.sessionId] });
      const session = row ? JSON.parse(row.state) : begin(event.sessionId);
      const answer = { id: nextId(), sessionId: event.sessionId, text: step(session, event.text) };
      await client.query({
        ...insertBoth,
        values: [event.id, event.sessionId, session.chatId, event.text, event.at, answer.id, answer.text, Date.now()],
      });
      await client.query({ ...saveSession, values: [event.sessionId, JSON.stringify(session)] });
      return answer;
    }));
  }
  return answers;
}

async function oneByOne(events) {
  const sessions = new Map();
  for (const event of events) {
    const of = sessions.get(event.sessionId);
    if (of) of.push(event);
    else sessions.set(event.sessionId, [event]);
  }
  return (await Promise.all([...sessions.values()].map(turnsOfSession))).flat();
}

// The turns of a batch in one transaction.
function together(events) {
  return transaction(async (client) => {
    const ids = [...new Set(events.map((event) => event.sessionId))];
    const { rows } = await client.query({ ...findSessions, values: [ids] });
    const sessions = new Map(rows.map((row) => [row.id, JSON.parse(row.state)]));
    const columns = [[], [], [], [], [], [], []];
    const add = (...row) => row.forEach((value, at) => columns[at].push(value));
    const answers = events.map((event) => {
      let session = sessions.get(event.sessionId);
      if (!session) sessions.set(event.sessionId, (session = begin(event.sessionId)));
      const answer = { id: nextId(), sessionId: event.sessionId, text: step(session, event.text) };
      add(event.id, event.sessionId, session.chatId, 'in', event.text, 'received', event.at);
      add(answer.id, event.sessionId, session.chatId, 'out', answer.text, 'pending', Date.now());
      return answer;
    });
    await client.query({ ...insertMessages, values: columns });
    await client.query({ ...saveSessions, values: [ids, ids.map((id) => JSON.stringify(sessions.get(id)))] });
    return answers;
  });
}

const run = batched ? together : oneByOne;
const put = (stream, event) => redis.xadd(stream, 'MAXLEN', '~', KEPT, '*', 'd', JSON.stringify(event));
const publish = (answers) => Promise.all(answers.map((answer) => put('outbound', answer)));

const http = createServer();
const io = new Server(http, { serveClient: false });

async function converse(events) {
  await publish(await run(events));
}

async function deliver(answers) {
  for (const { id, sessionId, text } of answers) io.to(sessionId).emit('message', { id, type: 'text', text });
  await pool.query({ ...setDelivered, values: [answers.map((answer) => answer.id)] });
}

// Each consumer blocks in a connection of its own.
async function consume(stream, handle, recover) {
  const group = 'g';
  const blocking = new Redis(redisUrl);
  await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM').catch((error) => {
    if (!error.message.startsWith('BUSYGROUP')) throw error;
  });
  const work = async (found, keep = (events) => events) => {
    const entries = found?.[0][1] ?? [];
    if (entries.length === 0) return 0;
    const events = await keep(entries.map(([, fields]) => JSON.parse(fields[1])));
    if (events.length > 0) await handle(events);
    await redis.xack(stream, group, ...entries.map(([id]) => id));
    return entries.length;
  };
  const read = (from) =>
    blocking.xreadgroup('GROUP', group, 'c1', 'COUNT', BATCH, ...(from === '>' ? ['BLOCK', 5000] : []), 'STREAMS', stream, from);
  while ((await work(await read('0'), recover)) > 0);
  (async () => {
    for (;;) await work(await read('>'));
  })().catch((error) => {
    if (stopping) return;
    console.error(error);
    process.exit(1);
  });
}

// Entries whose turn was stored before their batch was acknowledged.
async function withoutStored(events) {
  const { rows } = await pool.query('SELECT id FROM message WHERE id = ANY($1)', [events.map((event) => event.id)]);
  const stored = new Set(rows.map((row) => row.id));
  return events.filter((event) => !stored.has(event.id));
}

let stopping = false;
const { rows: unsent } = await pool.query(
  `SELECT id, session_id AS "sessionId", body AS text FROM message WHERE status = 'pending' ORDER BY id`,
);
await publish(unsent);
await consume('inbound', converse, withoutStored);
await consume('outbound', deliver);

io.on('connection', (socket) => {
  const { channelId, userId } = socket.handshake.auth;
  const sessionId = `wc-${channelId}-${userId}`;
  socket.join(sessionId);
  socket.emit('auth_ok', { userId, sessionKey: 'k', channelName: 'x', appearance: null });
  socket.on('message', (message) => {
    if (!message?.text) return;
    put('inbound', { id: nextId(), sessionId, text: message.text, at: Date.now() }).catch((error) => {
      socket.emit('message_error', { code: 'unavailable' });
      console.error(error);
    });
  });
});
http.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => {
  stopping = true;
  process.exit(0);
});
