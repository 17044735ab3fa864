// What only the mock can bring about: refusals, lost acks, every kind of message, frames.
// Environment: SERVER_URL of the mock, and that of every trial.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { needed, newPage, shot, stepAlone as step, trial } from './trial.mjs';

const SERVER_URL = needed('SERVER_URL');

async function open(channel, options) {
  const page = await newPage(options);
  await page.goto(`${SERVER_URL}/chat/${channel}`);
  await page.locator('.status.on').waitFor();
  const userId = await page.evaluate(() => {
    const key = Object.keys(localStorage).find((one) => one.endsWith(':identity'));
    return key ? JSON.parse(localStorage.getItem(key)).userId : null;
  });
  return { page, userId };
}

async function mock(action, body) {
  const response = await fetch(`${SERVER_URL}/mock/${action}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(response.status, 200);
}

async function type(page, text) {
  await page.locator('.composer-text').fill(text);
  await page.keyboard.press('Enter');
}

async function run() {
  await step('unknown channel', async () => {
    const page = await newPage();
    await page.goto(`${SERVER_URL}/chat/missing`);
    await page.getByRole('heading', { name: 'Chat indisponível' }).waitFor();
    assert.equal(await page.locator('textarea').count(), 0);
    await shot(page, 'notice');
  });

  await step('tokens', async () => {
    const page = await newPage();
    await page.goto(`${SERVER_URL}/chat/secure`);
    await page.getByText('Acesso não autorizado').waitFor();
    await page.goto(`${SERVER_URL}/chat/secure?t=expired`);
    await page.getByText('A sessão expirou').waitFor();
    await page.goto(`${SERVER_URL}/chat/secure?t=ok-maria`);
    await type(page, 'oi');
    await page.getByText('Como você se chama?').waitFor();
    await page.reload();
    await page.getByText('Como você se chama?').waitFor();
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), [], 'nothing is kept');
  });

  await step('invalid identity', async () => {
    const { page, userId } = await open('demo');
    await type(page, 'oi');
    await page.getByText('Como você se chama?').waitFor();
    await mock('kick', { userId });
    await mock('forget', { userId });
    const notice = page.getByRole('alert');
    await notice.getByText('Não foi possível retomar a conversa').waitFor();
    assert.equal(await page.getByText('Como você se chama?').count(), 1, 'the conversation stays readable');
    await shot(page, 'notice-identity');
    await page.reload();
    await page.getByText('Não foi possível retomar a conversa').waitFor();
    await page.getByRole('button', { name: 'Começar nova conversa' }).click();
    await page.locator('.status.on').waitFor();
    assert.equal(await page.locator('.message').count(), 0);
    await type(page, 'oi');
    await page.getByText('Como você se chama?').waitFor();
  });

  await step('rate limited visits', async () => {
    const page = await newPage();
    await page.clock.install();
    await page.goto(`${SERVER_URL}/chat/limited`);
    await page.getByText('Muitas conexões agora.').waitFor();
    await shot(page, 'limited');
    for (let times = 0; times < 2; times += 1) {
      await page.waitForTimeout(300);
      await page.clock.runFor(16_000);
    }
    await page.locator('.status.on').waitFor();
    await page.getByText('Muitas conexões agora.').waitFor({ state: 'detached' });
  });

  await step('refused message and retry', async () => {
    const { page, userId } = await open('demo');
    await mock('refuse', { userId, code: 'internal' });
    await type(page, 'um');
    await page.getByText('Não enviada').waitFor();
    await shot(page, 'failed');
    await type(page, 'dois');
    await page.getByText('Como você se chama?').waitFor();
    await page.getByRole('button', { name: 'Tentar de novo' }).click();
    await page.getByText('Prazer, um!').waitFor();
    const mine = await page.locator('.mine .bubble').allInnerTexts();
    assert.deepEqual(mine, ['dois', 'um']);
  });

  await step('a lost ack', async () => {
    const { page, userId } = await open('demo');
    await page.clock.install();
    await mock('mute', { userId, times: 1 });
    await type(page, 'um');
    await type(page, 'dois');
    await page.getByText('Enviando').waitFor();
    await page.clock.runFor(11_000);
    await page.getByText('Prazer, dois!').waitFor();
    assert.deepEqual(await page.locator('.mine .bubble').allInnerTexts(), ['um', 'dois']);
  });

  await step('a lost ack of a message that was answered', async () => {
    const { page, userId } = await open('demo');
    await page.clock.install();
    await type(page, 'oi');
    await page.getByText('Como você se chama?').waitFor();
    await mock('noack', { userId, times: 1 });
    await type(page, 'Ana');
    await page.getByText('O que você quer fazer?').waitFor();
    await mock('kick', { userId });
    await mock('say', { userId, messages: [{ type: 'text', text: { body: 'Enquanto isso' } }] });
    await page.clock.runFor(5000);
    await page.locator('.mine[data-delivery="sent"]').nth(1).waitFor();
    await page.waitForFunction(() => {
      const shown = [...document.querySelectorAll('.bubble')].map((one) => one.innerText.trim()).slice(2);
      return JSON.stringify(shown) === '["Ana","Prazer, Ana!","O que você quer fazer?\\n\\n“assistente” fala com nossa IA, “atendente” com uma pessoa.","Enquanto isso"]';
    });
  });

  await step('the server sends visitors away for a moment', async () => {
    const { page, userId } = await open('demo');
    await mock('leave', { userId });
    await page.locator('.status.on').waitFor({ state: 'detached' });
    await page.locator('.status.on').waitFor();
  });

  await step('earlier messages', async () => {
    const { page, userId } = await open('demo');
    const many = Array.from({ length: 120 }, (_, at) => ({
      type: 'text',
      text: { body: `mensagem ${at}` },
      direction: at % 3 === 0 ? 'in' : 'out',
    }));
    await mock('fill', { userId, messages: many });
    await page.reload();
    await page.getByText('mensagem 119', { exact: true }).waitFor();
    assert.equal(await page.locator('.message').count(), 50);
    const log = page.getByRole('log');
    const gap = () => log.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
    assert.ok((await gap()) < 5, 'it opens at the end');
    for (const count of [100, 120]) {
      await log.evaluate((one) => one.scrollTo(0, 0));
      const first = page.locator('.message').first();
      const id = await first.getAttribute('data-id');
      await page.getByRole('button', { name: 'Carregar mensagens anteriores' }).click();
      await page.waitForFunction((wanted) => document.querySelectorAll('.message').length === wanted, count);
      const top = await page.locator(`[data-id="${id}"]`).evaluate((one) => one.getBoundingClientRect().top);
      assert.ok(top > 0 && top < 400, `the place is kept (${top})`);
    }
    assert.equal(await page.getByRole('button', { name: 'Carregar mensagens anteriores' }).count(), 0);
    const texts = await page.locator('.message .bubble').allInnerTexts();
    assert.deepEqual(texts, many.map((one) => one.text.body));
    await log.evaluate((one) => one.scrollTo(0, 0));
    await mock('say', { userId, messages: [{ type: 'text', text: { body: 'a última' } }] });
    await page.getByRole('button', { name: 'Novas mensagens' }).click();
    assert.ok((await gap()) < 5);
  });

  await step('formatting', async () => {
    const { page, userId } = await open('demo');
    await type(page, '*oi* https://a.example');
    await page.getByText('Como você se chama?').waitFor();
    const body =
      'Temos *três* planos, _todos_ ~caros~ baratos:\n\n- **Básico**: `R$ 10`\n- Profissional\n\n1. Ligue +55 11 91234-5678\n' +
      '2. ou escreva a ajuda@loja.example\n<b>fim</b>';
    await mock('say', { userId, messages: [{ type: 'text', text: { body } }] });
    const bubble = page.locator('.bubble').last();
    await bubble.locator('ol').waitFor();
    assert.deepEqual(await bubble.locator('strong').allInnerTexts(), ['três', 'Básico']);
    assert.deepEqual(await bubble.locator('em, s, code').allInnerTexts(), ['todos', 'caros', 'R$ 10']);
    assert.deepEqual(await bubble.locator('li').count(), 4);
    const links = await bubble.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    assert.deepEqual(links, ['tel:+5511912345678', 'mailto:ajuda@loja.example']);
    assert.match(await bubble.innerText(), /<b>fim<\/b>$/);
    const mine = page.locator('.mine .bubble');
    assert.match(await mine.innerText(), /^\*oi\* https:/, 'what a visitor wrote stays as it is');
    assert.equal(await mine.locator('a').count(), 1);
    await shot(page, 'formatting');
  });

  await step('every kind of message', async () => {
    const { page, userId } = await open('demo');
    await type(page, 'mostre tudo');
    await page.getByText('Como você se chama?').waitFor();
    const link = `${SERVER_URL}/chat/assets/icon.svg`;
    const xss = '<img src=x onerror=alert(1)> https://example.com/a_(b), javascript:alert(1)';
    await mock('say', {
      userId,
      sender: { kind: 'ai' },
      messages: [
        { type: 'text', text: { body: xss } },
        { type: 'image', image: { link, caption: 'Uma imagem' } },
        { type: 'image', image: { link: `${SERVER_URL}/nothing.png` } },
        { type: 'audio', audio: { link } },
        { type: 'document', document: { link, filename: 'contrato.pdf', caption: 'Seu contrato' } },
      ],
    });
    await mock('say', {
      userId,
      sender: { kind: 'human', name: 'Beatriz' },
      messages: [
        { type: 'sticker', sticker: { link } },
        { type: 'hologram', hologram: { link } },
        {
          type: 'interactive',
          interactive: {
            type: 'list',
            header: { type: 'text', text: 'Horários' },
            body: { text: 'Escolha um horário' },
            footer: { text: 'Fuso de Brasília' },
            action: {
              button: 'Ver horários',
              sections: ['Manhã', 'Tarde'].map((title, part) => ({
                title,
                rows: Array.from({ length: 5 }, (_, at) => ({
                  id: `${part}${at}`,
                  title: `${8 + part * 5 + at}:00`,
                  description: at % 2 ? 'Poucas vagas, chegue com dez minutos de antecedência' : undefined,
                })),
              })),
            },
          },
        },
      ],
    });
    await mock('emit', { userId, event: 'session', payload: { mode: 'human' } });
    await mock('emit', { userId, event: 'typing', payload: { kind: 'human' } });
    await page.locator('.typing').waitFor();
    await page.getByText('Você está falando com nossa equipe').waitFor();
    assert.equal(await page.getByRole('link', { name: 'https://example.com/a_(b)' }).count(), 1);
    assert.equal(await page.locator('.bubble a[href^="javascript"]').count(), 0);
    assert.equal(await page.locator('.unsupported').count(), 1);
    assert.equal(await page.getByRole('img', { name: 'Uma imagem' }).count(), 1);
    await page.getByRole('link', { name: /contrato\.pdf/ }).waitFor();
    assert.ok((await page.getByText('Beatriz', { exact: true }).count()) > 0);
    await shot(page, 'kinds');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: 'Ver horários' }).click();
    await page.getByRole('dialog').waitFor();
    await shot(page, 'phone-sheet');
    await page.getByRole('button', { name: '15:00' }).click();
    await page.locator('.mine').getByText('15:00').waitFor();
    await page.locator('.typing').waitFor({ state: 'detached' });
    for (const width of [320, 360]) {
      await page.setViewportSize({ width, height: 568 });
      const over = await page.evaluate(() => {
        const log = document.querySelector('.log');
        return Math.max(document.documentElement.scrollWidth - innerWidth, log.scrollWidth - log.clientWidth);
      });
      assert.ok(over <= 0, `nothing overflows at ${width} px`);
    }
    await shot(page, 'phone-kinds');
  });

  await step('text limit', async () => {
    const { page } = await open('demo');
    const field = page.locator('.composer-text');
    await field.fill('é'.repeat(4000));
    await page.getByText('96 restantes').waitFor();
    await field.fill('é'.repeat(4100));
    await page.getByText('4 acima do limite').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Enviar' }).isDisabled(), true);
    await shot(page, 'limit');
    await field.fill('👋'.repeat(4096));
    await page.getByText('0 restantes').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.mine[data-delivery="sent"]').waitFor();
    await field.fill('linha 1');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('linha 2');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.mine .bubble')].some((one) => one.innerText === 'linha 1\nlinha 2'),
    );
  });

  await step('websocket blocked', async () => {
    const blocked = await newPage();
    await blocked.addInitScript(() => {
      window.WebSocket = class {
        constructor() {
          throw new Error('blocked');
        }
      };
    });
    const silent = await newPage();
    await silent.routeWebSocket(/webchat/, () => {});
    for (const page of [blocked, silent]) {
      await page.goto(`${SERVER_URL}/chat/plain`);
      await page.locator('.status.on').waitFor({ timeout: 20_000 });
      await type(page, 'oi');
      await page.getByText('Como você se chama?').waitFor();
    }
  });

  await step('in a frame of another site, storage refused', async () => {
    const host = createServer((_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<iframe title="chat" width="320" height="480" src="${SERVER_URL}/chat/plain"></iframe>`);
    });
    await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
    const page = await newPage();
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException('refused', 'SecurityError');
          },
        });
      }
    });
    await page.goto(`http://localhost:${host.address().port}/`);
    const frame = page.frameLocator('iframe');
    await frame.locator('.status.on').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement === document.body), true, 'takes no focus');
    await frame.locator('.composer-text').fill('oi');
    await frame.locator('.composer-text').press('Enter');
    await frame.getByText('Como você se chama?').waitFor();
    await shot(page, 'frame');
    host.close();
  });
}

await trial(run);
