// The administrative API as a Node team would write it: Fastify, @fastify/jwt (HS256), permissions read again from
// PostgreSQL at every request, bcrypt for passwords. It answers with a constant router, which spares it one query.
//
//   node api.mjs PORT DATABASE_URL
import bcrypt from 'bcrypt';
import Fastify from 'fastify';
import jwt from '@fastify/jwt';
import pg from 'pg';

const [, , port, database] = process.argv;
const app = Fastify({ logger: false });
const pool = new pg.Pool({ connectionString: database, max: 8 });

await app.register(jwt, { secret: '0123456789abcdef0123' });

const authenticate = async (request, reply) => {
  try {
    await request.jwtVerify();
    request.principal = JSON.parse(request.user.sub);
  } catch {
    return reply.code(401).send({ message: 'Token JWT inválido' });
  }
};

const PRINCIPAL = {
  name: 'principal',
  text: 'SELECT u.role, g.permissions, g.router_ids FROM usr u LEFT JOIN grp g ON g.id = u.group_id WHERE u.id = $1',
};

const permit = (resource, action) => async (request, reply) => {
  const found = await pool.query({ ...PRINCIPAL, values: [request.principal.id] });
  const user = found.rows[0];
  if (!user) return reply.code(401).send({ message: 'Token JWT inválido' });
  if (user.role === 'admin') return;
  const permissions = JSON.parse(user.permissions);
  if (!permissions.some((one) => one.resource === resource && one.actions.includes(action))) {
    return reply.code(403).send({ message: 'Sem permissão' });
  }
  const routers = JSON.parse(user.router_ids);
  if (routers.length > 0 && !routers.includes(request.params.id)) {
    return reply.code(404).send({ message: 'Não encontrado' });
  }
};

const ROUTER = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    tz: { type: 'string' },
    hasChannelAppSecret: { type: 'boolean' },
    hasChannelVerifyToken: { type: 'boolean' },
  },
};

app.get(
  '/routers/:id',
  { onRequest: authenticate, preHandler: permit('routers', 'read'), schema: { response: { 200: ROUTER } } },
  async (request) => ({
    id: request.params.id,
    name: 'Race',
    tz: 'America/Sao_Paulo',
    hasChannelAppSecret: true,
    hasChannelVerifyToken: false,
  }),
);

const ACCOUNT = { name: 'account', text: 'SELECT id, name, password_hash FROM usr WHERE email = $1' };

app.post('/auth/login', async (request, reply) => {
  const found = await pool.query({ ...ACCOUNT, values: [request.body.email] });
  const user = found.rows[0];
  if (!user || !(await bcrypt.compare(request.body.password, user.password_hash))) {
    return reply.code(401).send({ message: 'Credenciais inválidas' });
  }
  const sub = JSON.stringify({ id: user.id, name: user.name });
  return { accessToken: app.jwt.sign({ sub }, { expiresIn: '1d' }) };
});

await app.listen({ port: Number(port), host: '127.0.0.1' });
