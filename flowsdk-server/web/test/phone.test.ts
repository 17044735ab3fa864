import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Phone } from '../src/phone/phone.ts';

interface Call {
  path: string;
  body: unknown;
}

/** A simulator that has these screens, one after the other, and then nothing new. */
function simulator(...screens: (object | number)[]) {
  const calls: Call[] = [];
  const ask = async (path: string, init?: RequestInit): Promise<Response> => {
    if (init?.method === 'POST') {
      const { body } = init;
      calls.push({ path, body: body instanceof File ? body.name : JSON.parse(String(body)) });
      return new Response(null, { status: 204 });
    }
    const next = screens.shift();
    if (typeof next === 'number') return new Response(null, { status: next });
    return next ? Response.json(next) : new Response(null, { status: 204 });
  };
  const phone = new Phone('/simulator/numbers/111', '/phones/1', 'Ana', ask);
  return { phone, calls };
}

const text = (id: string, from: string, body: string) => ({
  id,
  from,
  at: 1_795_700_000_000,
  read: false,
  message: { type: 'text', text: { body } },
});

test('what the business sent stands beside what the phone wrote', async () => {
  const messages = [text('a', 'phone', 'oi'), text('b', 'business', 'olá')];
  const formsEndpoint = 'http://127.0.0.1:9/phone/forms/';
  const { phone } = simulator({ version: 2, business: 'Loja', formsEndpoint, typing: true, messages });
  await phone.start();
  phone.stop();
  assert.deepEqual(
    phone.state.items.map((item) => [item.id, item.direction, item.content]),
    [
      ['a', 'in', { kind: 'text', text: 'oi' }],
      ['b', 'out', { kind: 'text', text: 'olá' }],
    ],
  );
  assert.equal(phone.state.channelName, 'Loja');
  assert.equal(phone.formsEndpoint, formsEndpoint);
  assert.equal(phone.state.typing, 'Loja');
  assert.equal(phone.state.link, 'online');
});

test('a message that the webhook left out is failed, and can be said again', async () => {
  const messages = [
    { ...text('a', 'phone', 'oi'), delivered: { outcome: 'left_out' } },
    { ...text('b', 'phone', 'aí?'), delivered: { outcome: 'refused', status: 403 } },
    { ...text('c', 'phone', 'sim'), delivered: { outcome: 'taken' } },
    { ...text('d', 'phone', 'não'), delivered: null },
  ];
  const { phone, calls } = simulator({ version: 3, business: 'Loja', typing: false, messages });
  await phone.start();
  phone.stop();
  assert.deepEqual(
    phone.state.items.map((item) => item.delivery),
    ['failed', 'sending', 'sent', 'sent'],
  );
  phone.retry('a');
  const message = { type: 'text', text: { body: 'oi' } };
  assert.deepEqual(calls, [{ path: '/simulator/numbers/111/phones/1/messages', body: { name: 'Ana', message } }]);
});

test('a message has been read when the simulator says so, whatever is answered', async () => {
  const messages = [text('a', 'phone', 'oi'), { ...text('b', 'phone', 'aí?'), read: true }, text('c', 'business', 'sim')];
  const { phone } = simulator({ version: 3, business: 'Loja', typing: false, messages });
  await phone.start();
  phone.stop();
  assert.deepEqual(
    phone.state.items.map((item) => item.read),
    [false, true, undefined],
  );
});

test('a text and a choice are said as WhatsApp says them', async () => {
  const { phone, calls } = simulator({ version: 1, business: 'Loja', typing: false, messages: [text('b', 'business', '?')] });
  await phone.start();
  phone.stop();
  phone.sendText('oi');
  phone.choose({ type: 'list_reply', id: 'x', title: 'X' }, 'b');
  phone.noteRead();
  assert.deepEqual(calls, [
    { path: '/simulator/numbers/111/phones/1/messages', body: { name: 'Ana', text: 'oi' } },
    {
      path: '/simulator/numbers/111/phones/1/messages',
      body: {
        name: 'Ana',
        message: {
          type: 'interactive',
          interactive: { type: 'list_reply', list_reply: { id: 'x', title: 'X' } },
          context: { id: 'b' },
        },
      },
    },
    { path: '/simulator/numbers/111/phones/1/read', body: {} },
  ]);
});

test('a simulator that is away is offline after a while, and online when it is back', async () => {
  const { phone } = simulator(503, 503, 503);
  const seen: string[] = [];
  phone.subscribe(() => seen.push(phone.state.link));
  for (let look = 0; look < 4; look += 1) await phone.start();
  phone.stop();
  assert.deepEqual(seen, ['offline', 'online']);
});

test('a template is shown with its values', async () => {
  const template = {
    name: 'aviso',
    language: { code: 'pt_BR' },
    components: [
      { type: 'header', parameters: [{ type: 'image', image: { link: 'https://a.example/b.png' } }] },
      { type: 'body', parameters: [{ type: 'text', text: 'Ana' }, { type: 'text', text: '7' }] },
    ],
  };
  const bubble = { ...text('b', 'business', ''), message: { type: 'template', template } };
  const filled = {
    header: { type: 'image', image: { id: '47 11' } },
    body: 'Oi, Ana',
    footer: 'Loja',
    buttons: [
      { type: 'quick_reply', text: 'Sim', payload: 'yes' },
      { type: 'flow', text: 'Preencher', parameters: { flow_token: 'T' } },
    ],
  };
  const known = { ...text('c', 'business', ''), message: { type: 'template', template: { ...template, filled } } };
  const { phone, calls } = simulator({ version: 1, business: 'Loja', typing: false, messages: [bubble, known] });
  await phone.start();
  phone.stop();
  assert.deepEqual(
    phone.state.items.map((item) => item.content),
    [
      { kind: 'text', text: 'aviso (pt_BR)\nheader: {"link":"https://a.example/b.png"}\nbody: Ana · 7' },
      {
        kind: 'template',
        header: { file: { media: 'image', link: '/simulator/media/47%2011', filename: '' } },
        text: 'Oi, Ana',
        footer: 'Loja',
        actions: [
          { kind: 'reply', label: 'Sim' },
          { kind: 'form', label: 'Preencher', parameters: { flow_token: 'T' } },
        ],
      },
    ],
  );
  phone.tap('c', 'Sim');
  await phone.reply('T', { type: 'interactive' });
  assert.deepEqual(calls, [
    { path: '/simulator/numbers/111/phones/1/taps', body: { name: 'Ana', message: 'c', title: 'Sim' } },
    {
      path: '/simulator/numbers/111/phones/1/messages',
      body: { name: 'Ana', message: { type: 'interactive', context: { id: 'c' } } },
    },
  ]);
});

test('files go to the simulator, and are shown from there', async () => {
  const voice = { type: 'audio', audio: { id: '47 11', mime_type: 'audio/ogg' } };
  const logo = { type: 'image', image: { link: 'https://shop.example/logo.png' } };
  const messages = [voice, logo].map((message, at) => ({ ...text(String(at), 'phone', ''), message }));
  const { phone, calls } = simulator({ version: 1, business: 'Loja', typing: false, messages });
  await phone.start();
  phone.stop();
  assert.deepEqual(
    phone.state.items.map((item) => item.content.kind === 'media' && [item.content.media, item.content.link]),
    [
      ['audio', '/simulator/media/47%2011'],
      ['image', 'https://shop.example/logo.png'],
    ],
  );
  phone.sendFile(new File(['x'], 'menu.pdf', { type: 'application/pdf' }));
  phone.sendFile(new File(['x'], 'photo.png', { type: 'image/png' }));
  assert.deepEqual(calls, [
    { path: '/simulator/numbers/111/phones/1/files?name=Ana&filename=menu.pdf', body: 'menu.pdf' },
    { path: '/simulator/numbers/111/phones/1/files?name=Ana', body: 'photo.png' },
  ]);
});
