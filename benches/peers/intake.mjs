// The peer of the intake race: Fastify and ioredis, as a Node team would take webhooks of the phone provider.
//
//   node intake.mjs PORT REDIS SECRET
//
// The signature is compared in constant time over the raw body. Each message goes into the stream `incoming`, and the
// delivery is answered when Redis has it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

const [port, redisUrl, secret] = process.argv.slice(2);
const app = Fastify({ logger: false, bodyLimit: 3 << 20 });
const redis = new Redis(redisUrl, { enableAutoPipelining: true });

app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

function isSigned(body, header) {
  const given = Buffer.from(String(header ?? '').replace(/^sha256=/, ''), 'hex');
  const right = createHmac('sha256', secret).update(body).digest();
  return given.length === right.length && timingSafeEqual(given, right);
}

app.post('/phone/webhook', async (request, reply) => {
  if (!isSigned(request.body, request.headers['x-hub-signature-256'])) return reply.code(403).send();
  const { entry = [] } = JSON.parse(request.body);
  const stored = [];
  for (const { changes = [] } of entry) {
    for (const { value } of changes) {
      const names = new Map((value.contacts ?? []).map((contact) => [contact.wa_id, contact.profile?.name]));
      for (const message of value.messages ?? []) {
        const event = {
          sessionId: `wa-${value.metadata.phone_number_id}-${message.from}`,
          contactName: names.get(message.from),
          messages: [message],
        };
        stored.push(redis.xadd('incoming', '*', 'd', JSON.stringify(event)));
      }
    }
  }
  await Promise.all(stored);
  return reply.code(200).send();
});

await app.listen({ port: Number(port), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
