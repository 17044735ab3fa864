// Holds the demonstration conversation in a real browser. Environment: CHAT_URL (address of the page of
// a channel that runs the demonstration flow), and that of every trial.

import assert from 'node:assert/strict';
import { device } from './device.mjs';
import { cuttable } from './proxy.mjs';
import { WAIT_MS, needed, newPage as openPage, problems, shot, step, trial } from './trial.mjs';

const CHAT_URL = needed('CHAT_URL');
const HELLO = 'Olá! 👋 Eu sou o assistente de demonstração do FlowSDK. Como você se chama?';
const ASK = 'O que você quer fazer?\n\n“assistente” fala com nossa IA, “atendente” com uma pessoa.';

const line = await cuttable(CHAT_URL);

async function newPage(options) {
  const page = await openPage(options);
  page.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(line.url).host) problems.push(`foreign request: ${request.url()}`);
  });
  return page;
}

const messages = (page) => page.locator('.message:not(:has(.typing))');

async function transcript(page) {
  return page.locator('.message .bubble:not(.typing)').allInnerTexts();
}

/** Waits until the conversation ends with these bubbles, in this order. */
async function endsWith(page, ...wanted) {
  await page
    .waitForFunction(
      (texts) => {
        const shown = [...document.querySelectorAll('.message .bubble:not(.typing)')].map((one) => one.innerText.trim());
        return texts.every((text, at) => shown[shown.length - texts.length + at] === text);
      },
      wanted,
      { timeout: WAIT_MS },
    )
    .catch(async () => {
      assert.fail(`expected at the end ${JSON.stringify(wanted)}, shown: ${JSON.stringify((await transcript(page)).slice(-6))}`);
    });
}

async function type(page, text) {
  await page.getByLabel('Mensagem', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

async function allSent(page) {
  await page.waitForFunction(() => !document.querySelector('.mine:not([data-delivery="sent"])'), null, { timeout: WAIT_MS });
}

async function identityOf(page) {
  const kept = await page.evaluate(() => {
    const key = Object.keys(localStorage).find((one) => one.endsWith(':identity'));
    return key ? JSON.parse(localStorage.getItem(key)) : null;
  });
  assert.ok(kept?.userId && kept.sessionKey, 'the browser keeps the identity');
  return kept;
}

async function run() {
  const page = await newPage();
  await step('greeting', async () => {
    await page.goto(line.url);
    await page.getByRole('log').waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'pt-BR');
    await page.locator('.status.on').waitFor();
    await shot(page, 'desktop-empty');
    await type(page, 'oi');
    await endsWith(page, 'oi', HELLO);
    await allSent(page);
  });

  await step('menu', async () => {
    await type(page, 'Ana');
    await endsWith(page, 'Ana', 'Prazer, Ana!', ASK);
    const options = page.locator('.message').last().locator('.choice');
    assert.deepEqual(await options.allInnerTexts(), ['Ver planos', 'Fazer um pedido', 'Encerrar']);
    await shot(page, 'desktop-menu');
  });

  await step('bad input', async () => {
    await type(page, 'talvez');
    await endsWith(page, 'talvez', 'Por favor, escolha uma das opções.');
    assert.equal(await page.locator('.choice:enabled').count(), 3, 'the options stay open for another try');
  });

  await step('list by keyboard', async () => {
    await page.getByRole('button', { name: 'Ver planos' }).press('Enter');
    await endsWith(page, 'Temos estes planos:');
    const opener = page.getByRole('button', { name: 'Ver planos' }).last();
    await opener.and(page.locator(':enabled')).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Ver planos' });
    await dialog.waitFor();
    await shot(page, 'desktop-list');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(await opener.evaluate((element) => element === document.activeElement), true, 'focus comes back');
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    // The browser tells the page of a closed dialog later, perhaps after the key that opens it again.
    await opener.evaluate((element) => {
      document.querySelector('dialog[open]').close();
      element.click();
    });
    await dialog.waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await endsWith(page, 'Profissional', 'Boa escolha, Ana: Profissional.', ASK);
  });

  await step('buttons', async () => {
    await page.getByRole('button', { name: 'Fazer um pedido' }).last().click();
    await endsWith(page, 'Fazer um pedido', 'Quantas unidades? (1 a 10)');
    assert.equal(await page.locator('.choice').count(), 0, 'the own message says what was chosen');
    await type(page, 'abc');
    await endsWith(page, 'abc', 'Digite um número de 1 a 10.');
    await allSent(page);
  });

  const before = await transcript(page);
  await step('reload keeps the conversation', async () => {
    await page.reload();
    await endsWith(page, 'abc', 'Digite um número de 1 a 10.');
    const shown = await transcript(page);
    assert.deepEqual(shown, before, 'the same conversation in the same order');
    const ids = await messages(page).evaluateAll((all) => all.map((one) => one.dataset.id));
    assert.equal(new Set(ids).size, ids.length, 'nothing is shown twice');
    await page.locator('.status.on').waitFor();
  });

  await step('a history that cannot be had at first', async () => {
    await page.route('**/webchat/history*', (route) => route.fulfill({ status: 503 }), { times: 1 });
    await page.reload();
    await endsWith(page, 'abc', 'Digite um número de 1 a 10.');
    assert.deepEqual(await transcript(page), before);
  });

  await step('an order after the reload', async () => {
    await type(page, '7');
    await endsWith(page, '7', 'Pedido grande: 7 unidades. Vamos dar desconto!', ASK);
    await shot(page, 'desktop-order');
  });

  await step('a lost connection', async () => {
    const identity = await identityOf(page);
    const count = await messages(page).count();
    line.cut();
    await page.getByText('Sem conexão. Tentando reconectar…').waitFor();
    // Meanwhile the same visitor goes on elsewhere.
    const elsewhere = await device(CHAT_URL, identity, WAIT_MS);
    await elsewhere.choose({ type: 'button_reply', id: 'order', title: 'Fazer um pedido' });
    await elsewhere.until('Quantas unidades? (1 a 10)');
    elsewhere.close();
    await type(page, 'xyz');
    await type(page, '3');
    assert.equal(await page.locator('.mine[data-delivery="queued"]').count(), 2, 'messages wait for the connection');
    await shot(page, 'desktop-offline');
    line.mend();
    await endsWith(page, 'Pedido de 3 unidades anotado.', ASK);
    await allSent(page);
    await page.getByText('Sem conexão. Tentando reconectar…').waitFor({ state: 'detached' });
    // What was written elsewhere is not sent here: the numbers of its answers tell of it.
    await page.locator('.mine').getByText('Fazer um pedido').nth(1).waitFor();
    const after = (await transcript(page)).slice(count).map((text) => text.trim());
    assert.deepEqual(
      after.filter((text) => !['xyz', '3'].includes(text)),
      [
        'Fazer um pedido',
        'Quantas unidades? (1 a 10)',
        'Digite um número de 1 a 10.',
        'Pedido de 3 unidades anotado.',
        ASK,
      ],
      'what was missed and what was answered, each once',
    );
    assert.deepEqual(after.filter((text) => ['xyz', '3'].includes(text)), ['xyz', '3']);
    assert.equal(after[0], 'Fazer um pedido', 'what was missed stands above what was written meanwhile');
  });

  await step('waiting messages survive a reload', async () => {
    line.cut();
    await page.getByText('Sem conexão. Tentando reconectar…').waitFor();
    await page.getByRole('button', { name: 'Encerrar' }).last().click();
    await page.locator('.mine[data-delivery="queued"]').waitFor();
    line.mend();
    await page.reload();
    await endsWith(page, 'Encerrar', 'Até logo, Ana!');
    const ends = (await transcript(page)).filter((text) => text.trim() === 'Encerrar');
    assert.equal(ends.length, 1, 'sent once');
  });

  await step('starts again', async () => {
    await page.getByText('A conversa terminou. Escreva para começar de novo.').waitFor();
    await type(page, 'oi');
    await endsWith(page, 'oi', HELLO);
    assert.equal(await page.locator('.ended').count(), 0);
    await page.locator('.mine').last().getByText('Lida').waitFor({ state: 'attached' });
    assert.equal(await page.locator('.message.mine[data-delivery="failed"]').count(), 0);
  });

  await step('a second tab', async () => {
    const second = await page.context().newPage();
    second.setDefaultTimeout(WAIT_MS);
    await second.goto(line.url);
    await second.locator('.status.on').waitFor();
    await endsWith(second, 'oi', HELLO);
    await type(page, 'Ana');
    await endsWith(second, 'oi', HELLO, 'Ana', 'Prazer, Ana!', ASK);
    await allSent(second);
    await second.getByRole('button', { name: 'Fazer um pedido' }).last().click();
    await endsWith(page, ASK, 'Fazer um pedido', 'Quantas unidades? (1 a 10)');
    assert.equal(await page.locator('.choice').count(), 0, 'chosen in one tab is chosen in all');
    await allSent(page);
    await page.bringToFront();
    await type(page, '2');
    await endsWith(second, '2', 'Pedido de 2 unidades anotado.', ASK);
    const shown = await transcript(second);
    assert.deepEqual(await transcript(page), shown, 'both show the same');
    await second.reload();
    await endsWith(second, '2', 'Pedido de 2 unidades anotado.', ASK);
    assert.deepEqual(await transcript(second), shown, 'and so does a reload');
    await second.close();
    await page.getByRole('button', { name: 'Encerrar' }).last().click();
    await endsWith(page, 'Encerrar', 'Até logo, Ana!');
    await type(page, 'oi');
    await endsWith(page, 'oi', HELLO);
    await allSent(page);
  });

  await step('a log that grows stays at its end', async () => {
    const distance = await page.locator('#log').evaluate(async (log) => {
      log.scrollTop = log.scrollHeight;
      // As a picture that has loaded between the page's scrolling and the event of it.
      const picture = document.createElement('div');
      picture.style.height = '400px';
      log.firstElementChild.append(picture);
      log.dispatchEvent(new Event('scroll'));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const distance = log.scrollHeight - log.scrollTop - log.clientHeight;
      picture.remove();
      return distance;
    });
    assert.ok(distance < 2, `${distance} px from the end`);
  });

  await step('telephone, dark', async () => {
    const state = await page.context().storageState();
    const phone = await newPage({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
      colorScheme: 'dark',
      storageState: state,
    });
    await phone.goto(line.url);
    await endsWith(phone, 'oi', HELLO);
    await shot(phone, 'phone-dark');
    await phone.setViewportSize({ width: 320, height: 568 });
    const overflow = await phone.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, 'nothing overflows at 320 px');
    await phone.context().close();
  });

  await step('languages', async () => {
    for (const [locale, lang, placeholder] of [
      ['en-GB', 'en', 'Write a message'],
      ['es-MX', 'es', 'Escribe un mensaje'],
      ['fr-FR', 'fr', 'Écrivez un message'],
      ['de-AT', 'de', 'Nachricht schreiben'],
      ['ja-JP', 'en', 'Write a message'],
    ]) {
      const page = await newPage({ locale });
      await page.goto(line.url);
      await page.getByPlaceholder(placeholder).waitFor();
      assert.equal(await page.locator('html').getAttribute('lang'), lang, locale);
      await page.context().close();
    }
  });

  await step('an author starts over', async () => {
    const before = await identityOf(page);
    const second = await page.context().newPage();
    await second.goto(line.url);
    await second.locator('.status.on').waitFor();
    await page.bringToFront();
    await page.getByRole('button', { name: 'Começar nova conversa' }).click();
    await page.locator('.status.on').waitFor();
    await page.locator('.message').first().waitFor({ state: 'detached' });
    await type(page, 'oi');
    await endsWith(page, 'oi', HELLO);
    assert.notEqual((await identityOf(page)).userId, before.userId);
    // The other tab came along.
    await endsWith(second, 'oi', HELLO);
    assert.deepEqual(await transcript(second), await transcript(page));
    await second.close();
  });
}

await trial(run, () => line.close());
