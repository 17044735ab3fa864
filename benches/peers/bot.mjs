// The peer of the flow race: Bot Framework SDK 4 on Express, its state in SQLite, written at the end of every turn.
//
//   node bot.mjs PORT FILE
//
// Three steps in a ring, each answers with an interpolated text. Its answers are posted to the `serviceUrl` of the message,
// or with `deliveryMode: expectReplies` given in the answer to the request.
import Database from 'better-sqlite3';
import botbuilder from 'botbuilder';
import express from 'express';

const { CloudAdapter, ConfigurationBotFrameworkAuthentication, ConversationState } = botbuilder;
const [port, file] = process.argv.slice(2);

class SqliteStorage {
  constructor(path) {
    this.db = new Database(path);
    this.db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE kv (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
    `);
    this.find = this.db.prepare('SELECT v FROM kv WHERE k = ?');
    this.save = this.db.prepare('INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v');
  }
  async read(keys) {
    const found = {};
    for (const key of keys) {
      const row = this.find.get(key);
      if (row) found[key] = JSON.parse(row.v);
    }
    return found;
  }
  async write(changes) {
    for (const [key, value] of Object.entries(changes)) this.save.run(key, JSON.stringify({ ...value, eTag: '*' }));
  }
  async delete() {}
}

const storage = new SqliteStorage(file);
const adapter = new CloudAdapter(new ConfigurationBotFrameworkAuthentication({}));
const conversations = new ConversationState(storage);
const flow = conversations.createProperty('flow');
const steps = ['Olá {{name}}, você disse: {{input}}', 'Passo 2: {{input}}', 'Fim do passo 3, {{name}}: {{input}}'];

const app = express();
app.use(express.json());
app.post('/api/messages', (request, response) =>
  adapter.process(request, response, async (context) => {
    const state = await flow.get(context, { step: 0, history: [], turns: 0 });
    const { text } = context.activity;
    const answer = steps[state.step].replace('{{name}}', 'Flow Chat').replace('{{input}}', text);
    state.history.push(state.step);
    if (state.history.length > 20) state.history.shift();
    state.step = (state.step + 1) % steps.length;
    state.last = text;
    state.turns += 1;
    await context.sendActivity(answer);
    await conversations.saveChanges(context, true);
  }),
);
app.listen(Number(port), '127.0.0.1');
process.on('SIGTERM', () => { storage.db.close(); process.exit(0); });
