// The widget in a page of another site with a strict content security policy. Environment: CHAT_URL (address of the
// page of a channel that runs the demonstration flow), MOCK (its server is the mock), and that of every trial.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { device } from './device.mjs';
import { WAIT_MS, needed, newPage as openPage, shot, stepAlone as step, trial } from './trial.mjs';

const { MOCK } = process.env;
const CHAT_URL = needed('CHAT_URL');

const server = new URL(CHAT_URL).origin;
const channel = decodeURIComponent(new URL(CHAT_URL).pathname.split('/').at(-1));
const POLICY =
  `default-src 'none'; script-src 'self' ${server}; frame-src ${server}; style-src 'self'; connect-src 'self'; ` +
  "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Calls made before the widget's script can have loaded. */
const PAGE_SCRIPT = `
  (window.flowsdk ||= []).push(["configure", { greeting: "Questions? We are here." }]);
  window.heard = [];
  for (const name of ["message", "unread", "open", "close"]) {
    window.flowsdk.push(["on", name, (event) => window.heard.push([name, event?.text ?? event?.count ?? null])]);
  }
  window.addEventListener("securitypolicyviolation", (event) => window.heard.push(["violation", event.violatedDirective]));
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("questions").addEventListener("click", () => window.flowsdk.open());
  });
`;

const host = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://host');
  if (pathname === '/page.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(PAGE_SCRIPT);
  if (pathname === '/page.css') {
    return response.writeHead(200, { 'content-type': 'text/css' }).end('body { margin: 3em; font-family: sans-serif; }');
  }
  if (pathname !== '/') return response.writeHead(404).end();
  const attributes = [...searchParams].map(([name, value]) => ` data-${name}="${value}"`).join('');
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY })
    .end(`<!doctype html><html lang="en"><title>Shop</title><meta name="viewport" content="width=device-width">
      <link rel="stylesheet" href="page.css"><script src="page.js"></script>
      <script src="${server}/widget.js" ${attributes} data-channel="${channel}" async></script>
      <h1>Shop</h1><p>Everything you need.</p><button id="questions">Questions?</button></html>`);
});
await new Promise((resolve) => host.listen(0, '127.0.0.1', resolve));
const HOST_URL = `http://localhost:${host.address().port}`;

async function newPage(options) {
  const page = await openPage({ locale: 'en-GB', viewport: { width: 1000, height: 760 }, ...options });
  page.asked = [];
  page.on('request', (request) => page.asked.push(new URL(request.url()).pathname));
  // A private window keeps the storage of a frame of another site from everybody, so the key is read off the wire.
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const ok = /^42\["auth_ok",(\{.*\})\]$/.exec(String(payload))?.[1];
      if (!ok) return;
      const { userId, sessionKey } = JSON.parse(ok);
      page.identity = { userId, sessionKey };
    }),
  );
  return page;
}

async function open(query = '', options = {}) {
  const page = await newPage(options);
  await page.goto(`${HOST_URL}/${query}`);
  const parts = partsOf(page);
  await parts.launcher.waitFor();
  return { page, ...parts };
}

function partsOf(page) {
  return {
    launcher: page.locator('.launcher'),
    panel: page.locator('.panel'),
    badge: page.locator('.badge'),
    greeting: page.locator('.greeting'),
    chat: page.frameLocator('.panel iframe'),
  };
}

const heard = (page, name) => page.evaluate((name) => window.heard.filter(([one]) => one === name).map(([, what]) => what), name);
const hears = (page, name, times) =>
  page.waitForFunction(([name, times]) => window.heard.filter(([one]) => one === name).length >= times, [name, times]);
const expanded = (launcher) => launcher.getAttribute('aria-expanded');
const focused = (page, selector) =>
  page.waitForFunction((selector) => {
    const inside = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
    return inside?.matches(selector);
  }, selector);

async function run() {
  await step('a page view loads nothing of the chat', async () => {
    const { page, launcher, panel, badge, greeting } = await open('?greeting=overridden');
    assert.equal(await greeting.locator('.greeting-text').innerText(), 'Questions? We are here.');
    assert.deepEqual([await expanded(launcher), await launcher.getAttribute('aria-label')], ['false', 'Open chat']);
    assert.equal(await panel.isVisible(), false);
    assert.equal(await badge.isVisible(), false);
    assert.equal(await page.locator('iframe').count(), 0);
    assert.ok(!page.asked.some((path) => path.startsWith('/chat/')), page.asked.join());
    await shot(page, 'widget-greeting');
    await greeting.getByRole('button', { name: 'Dismiss' }).click();
    await focused(page, '.launcher');
    await page.reload();
    await launcher.waitFor();
    assert.equal(await greeting.isVisible(), false, 'it stays away');
  });

  await step('opened and closed by keyboard', async () => {
    const { page, launcher, panel, chat } = await open();
    await launcher.focus();
    await page.keyboard.press('Enter');
    await chat.locator('.status.on').waitFor();
    assert.deepEqual([await expanded(launcher), await launcher.getAttribute('aria-label')], ['true', 'Close chat']);
    await chat.locator('.composer-text:focus').waitFor();
    await page.keyboard.type('oi');
    await page.keyboard.press('Enter');
    await chat.getByText('Como você se chama?').waitFor();
    await shot(page, 'widget-open');
    await page.keyboard.press('Escape');
    await focused(page, '.launcher');
    assert.equal(await expanded(launcher), 'false');
    await panel.waitFor({ state: 'hidden' });
    assert.deepEqual([await heard(page, 'open'), await heard(page, 'close')], [[null], [null]]);
    await page.keyboard.press('Enter');
    await chat.locator('.composer-text:focus').waitFor();
    await page.keyboard.press('Escape');
    await focused(page, '.launcher');
  });

  await step('counts what arrives while it is closed', async () => {
    const { page, launcher, badge, chat } = await open();
    await page.locator('#questions').click();
    await chat.locator('.status.on').waitFor();
    await chat.locator('.composer-text').fill('oi');
    await chat.locator('.composer-text').press('Enter');
    await hears(page, 'message', 1);
    assert.match((await heard(page, 'message'))[0], /Como você se chama\?$/);
    assert.deepEqual(await heard(page, 'unread'), [], 'what is seen is not unread');
    await chat.getByRole('button', { name: 'Close' }).click();
    await focused(page, '#questions');
    const phone = await device(CHAT_URL, page.identity, WAIT_MS);
    await phone.say('Ana');
    await hears(page, 'unread', 2);
    phone.close();
    assert.deepEqual(await heard(page, 'unread'), [1, 2]);
    assert.equal(await badge.innerText(), '2');
    assert.equal(await launcher.getAttribute('aria-label'), 'Open chat (2 new messages)');
    await shot(page, 'widget-unread');
    await launcher.click();
    await hears(page, 'unread', 3);
    assert.equal((await heard(page, 'unread'))[2], 0);
    assert.equal(await badge.isVisible(), false);
    await chat.getByText('Prazer, Ana!').waitFor();
  });

  await step('listens to its frame alone', async () => {
    const { page, badge, panel, chat } = await open();
    await page.evaluate(() => window.flowsdk.open());
    await chat.locator('.status.on').waitFor();
    const frame = page.frames().find((one) => one.url().startsWith(server));
    // The page itself is no frame, and the frame is not its own parent.
    await page.evaluate(() => {
      window.postMessage({ flowsdk: 1, type: 'unread', count: 99 }, '*');
      window.postMessage({ flowsdk: 1, type: 'close' }, '*');
    });
    await frame.evaluate(async () => {
      window.postMessage({ flowsdk: 1, type: 'hide' }, '*');
      await new Promise((resolve) => setTimeout(resolve));
    });
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    assert.deepEqual([await badge.isVisible(), await panel.isVisible()], [false, true]);
    await chat.locator('.composer-text').fill('oi');
    await chat.locator('.composer-text').press('Enter');
    await hears(page, 'message', 1);
    assert.deepEqual(await heard(page, 'unread'), [], 'the chat page was not hidden');
  });

  await step('options, and events until one leaves', async () => {
    const { page, launcher, greeting } = await open('?position=left&color=%23ffd400&label=Ask%20us&language=de');
    assert.equal(await launcher.getAttribute('aria-label'), 'Ask us');
    assert.ok((await launcher.boundingBox()).x < 100, 'on the left');
    assert.equal(await launcher.evaluate((one) => getComputedStyle(one).backgroundColor), 'rgb(255, 212, 0)');
    await greeting.getByRole('button', { name: 'Ausblenden' }).waitFor();
    await shot(page, 'widget-left');
    const times = await page.evaluate(() => {
      let times = 0;
      const leave = window.flowsdk.on('open', () => (times += 1));
      window.flowsdk.open();
      window.flowsdk.open();
      window.flowsdk.close();
      leave();
      window.flowsdk.push(['open']);
      return times;
    });
    assert.equal(times, 1);
    await partsOf(page).chat.getByPlaceholder('Nachricht schreiben').waitFor();
    await page.evaluate(() => window.flowsdk.configure({ position: 'right', colour: 'red' }));
    assert.ok((await launcher.boundingBox()).x > 800, 'moved');
  });

  await step('the whole of a telephone', async () => {
    const { page, launcher, chat, panel } = await open('', {
      viewport: { width: 390, height: 780 },
      isMobile: true,
      hasTouch: true,
      colorScheme: 'dark',
      reducedMotion: 'reduce',
    });
    await shot(page, 'widget-phone-greeting');
    await launcher.tap();
    await chat.locator('.status.on').waitFor();
    const box = await panel.boundingBox();
    assert.deepEqual([box.x, box.y, box.width, box.height], [0, 0, 390, 780]);
    assert.equal(await launcher.isVisible(), false);
    await shot(page, 'widget-phone');
    // A keyboard stays in the chat that covers the page, in both directions.
    await chat.locator('.composer-text').focus();
    for (const key of ['Tab', 'Shift+Tab']) {
      for (let pressed = 0; pressed < 8; pressed += 1) {
        await page.keyboard.press(key);
        assert.equal(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.tagName), 'IFRAME', key);
      }
    }
    await chat.getByRole('button', { name: 'Close' }).tap();
    await launcher.waitFor();
    await panel.waitFor({ state: 'hidden' });
  });

  await step('high contrast', async () => {
    const { page, launcher, chat } = await open('', { forcedColors: 'active' });
    assert.equal(await launcher.evaluate((one) => getComputedStyle(one).borderTopWidth), '2px');
    await launcher.click();
    await chat.locator('.status.on').waitFor();
    await shot(page, 'widget-contrast');
  });

  await step('a page without an origin', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'widget-page-')), 'page.html');
    writeFileSync(file, `<!doctype html><p>A file</p><script src="${server}/widget.js" data-channel="${channel}" async></script>`);
    const page = await newPage();
    await page.goto(pathToFileURL(file).href);
    const { launcher, panel, chat } = partsOf(page);
    await launcher.click();
    await chat.locator('.status.on').waitFor();
    assert.equal(await chat.getByRole('button', { name: 'Close' }).count(), 0, 'nobody hears of it');
    await launcher.click();
    await panel.waitFor({ state: 'hidden' });
  });

  if (MOCK) await step('tokens are renewed', async () => {
    const { page, chat } = await open('?channel=secure');
    await page.evaluate(() => {
      window.tokens = ['expired', 'ok-ana', 'expired', 'ok-ana'];
      window.renewed = () => Promise.resolve(window.tokens.shift());
      window.flowsdk.identify(window.renewed);
      window.flowsdk.open();
    });
    await chat.locator('.status.on').waitFor();
    await chat.locator('.composer-text').fill('oi');
    await chat.locator('.composer-text').press('Enter');
    await chat.getByText('Como você se chama?').waitFor();
    // Another visitor: the page starts anew. A token that cannot be renewed says so.
    await page.evaluate(() => window.flowsdk.identify('ok-bia'));
    await chat.locator('.status.on').waitFor();
    assert.equal(await chat.locator('.message').count(), 0, 'nothing of the former visitor');
    await page.evaluate(() => window.flowsdk.identify(window.renewed));
    await chat.getByText('Como você se chama?').waitFor();
    await page.evaluate(() => window.flowsdk.identify('expired'));
    await chat.getByText('The session has expired').waitFor();
    await page.evaluate(() => window.flowsdk.identify(() => 'expired'));
    await chat.getByText('The session has expired').waitFor();
    await chat.getByRole('button', { name: 'Close' }).click();
    await focused(page, '.launcher');
  });
}

await trial(run, () => {
  host.closeAllConnections();
  host.close();
});
