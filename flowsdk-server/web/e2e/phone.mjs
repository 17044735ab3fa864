// Holds a conversation on the page of the simulator's phone, in a real browser. Environment: PHONE_URL (address of the page
// of a demonstration), and that of every trial.

import assert from 'node:assert/strict';
import { WAIT_MS, needed, newPage, shot as shotOf, step, trial } from './trial.mjs';

const PHONE_URL = needed('PHONE_URL');
const API = new URL('/simulator/api/v24.0/', PHONE_URL);
const HELLO = 'Olá! 👋 Eu sou o assistente de demonstração do FlowSDK. Como você se chama?';
const ASK = 'O que você quer fazer?\n\n“assistente” fala com nossa IA, “atendente” com uma pessoa.';

const page = await newPage({ viewport: { width: 1000, height: 860 } });
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
const screen = page.frameLocator('iframe');
const bubbles = screen.locator('.message .bubble:not(.typing)');

/** Waits until the chat ends with these bubbles, in this order. */
async function endsWith(...wanted) {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const shown = (await bubbles.allInnerTexts()).slice(-wanted.length).map((text) => text.trim());
    if (JSON.stringify(shown) === JSON.stringify(wanted)) return;
    if (Date.now() > deadline) assert.deepEqual(shown, wanted);
    await page.waitForTimeout(100);
  }
}

async function type(text) {
  await screen.getByLabel('Mensagem', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

const shot = (name) => shotOf(page, name);

/** Calls the simulator as a business does. */
async function call(path, body) {
  const headers = { authorization: 'Bearer a-token', 'content-type': 'application/json' };
  const answer = await fetch(new URL(path, API), { method: 'POST', headers, body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.text());
}

async function run() {
  await step('a message and its ticks', async () => {
    await page.goto(PHONE_URL);
    await type('oi');
    await endsWith('oi', HELLO);
    await screen.locator('.mine[data-delivery="sent"]').getByText('Lida').waitFor({ state: 'attached' });
  });

  await step('a button', async () => {
    await type('Ana');
    await endsWith('Ana', 'Prazer, Ana!', ASK);
    await shot('buttons');
    await screen.getByRole('button', { name: 'Ver planos' }).click();
    await endsWith('Ver planos', 'Temos estes planos:');
  });

  await step('a row of a list', async () => {
    await screen.getByRole('button', { name: 'Ver planos' }).last().click();
    await screen.getByRole('dialog').getByRole('button', { name: 'Profissional' }).click();
    await endsWith('Profissional', 'Boa escolha, Ana: Profissional.', ASK);
  });

  const number = await page.locator('input[name=number]').inputValue();
  const phone = await page.locator('input[name=phone]').inputValue();
  await step('a template', async () => {
    const components = [
      { type: 'HEADER', format: 'LOCATION' },
      { type: 'BODY', text: 'Olá {{1}}, seu pedido *{{2}}* está a caminho do endereço acima.' },
      { type: 'FOOTER', text: 'Loja de demonstração' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Talvez' },
          { type: 'URL', text: 'Acompanhar', url: 'https://shop.example/orders/{{1}}' },
          { type: 'PHONE_NUMBER', text: 'Ligar', phone_number: '+15550100' },
          { type: 'COPY_CODE', text: 'Copiar código', example: '25OFF' },
          { type: 'FLOW', text: 'Avaliar', flow_id: '9', flow_action: 'navigate', navigate_screen: 'RATE' },
        ],
      },
    ];
    // The account of the demonstration.
    await call('100000000000002/message_templates', { name: 'order', language: 'pt_BR', category: 'UTILITY', components });
    const text = (value) => ({ type: 'text', text: value });
    const button = (sub_type, index, parameter) => ({ type: 'button', sub_type, index, parameters: [parameter] });
    const location = { latitude: -23.55, longitude: -46.63, name: 'Casa da Ana', address: 'Rua das Flores, 7' };
    await call(`${number}/messages`, {
      messaging_product: 'whatsapp',
      to: phone,
      type: 'template',
      template: {
        name: 'order',
        language: { code: 'pt_BR' },
        components: [
          { type: 'header', parameters: [{ type: 'location', location }] },
          { type: 'body', parameters: [text('Ana'), text('4711')] },
          button('quick_reply', '0', { type: 'payload', payload: 'maybe' }),
          button('url', '1', text('4711')),
          button('flow', '4', { type: 'action', action: { flow_token: 'T', flow_action_data: { order: '4711' } } }),
        ],
      },
    });
    const shown = screen.locator('.message.theirs').last();
    await shown.getByText('Casa da Ana').waitFor();
    await shown.getByText('Loja de demonstração').waitFor();
    assert.deepEqual(await shown.locator('strong').allInnerTexts(), ['4711']);
    await shot('template');
    const links = await shown.locator('a.choice').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    assert.deepEqual(links, ['https://shop.example/orders/4711', 'tel:+15550100']);
    await shown.getByRole('button', { name: 'Copiar código' }).click();
    assert.equal(await screen.locator('body').evaluate(() => navigator.clipboard.readText()), '25OFF');
    await shown.getByRole('button', { name: 'Avaliar' }).click();
    const form = screen.getByRole('dialog', { name: 'Avaliar' });
    await form.getByText('RATE').waitFor();
    await form.getByText('4711').waitFor();
    await shot('template-form');
    await form.getByRole('button', { name: 'Close' }).click();
  });

  await step('a quick reply of a template', async () => {
    await screen.getByRole('button', { name: 'Talvez' }).click();
    await endsWith('Talvez', 'Por favor, escolha uma das opções.');
    assert.equal(await screen.getByRole('button', { name: 'Encerrar' }).count(), 1, 'the options of the flow stay');
    await shot('template-tapped');
  });

  await step('a fault', async () => {
    await page.getByRole('button', { name: 'is refused for a moment' }).click();
    await page.getByText('The next call about a message is refused').waitFor();
    await type('talvez');
    await endsWith('talvez', 'Por favor, escolha uma das opções.');
  });
}

await trial(run);
