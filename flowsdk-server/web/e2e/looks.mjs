// The page that tries looks. Environment: SERVER_URL, and that of every trial.

import assert from 'node:assert/strict';
import { needed, newPage, problems, shot, trial } from './trial.mjs';

const SERVER_URL = needed('SERVER_URL');

await trial(async () => {
  const page = await newPage({ locale: 'en-GB', viewport: { width: 1100, height: 800 } });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(SERVER_URL).origin) problems.push(`foreign request: ${request.url()}`);
    if (/socket\.io|\/webchat\//.test(request.url())) problems.push(`connected: ${request.url()}`);
  });
  // The description of the API comes after somebody has begun to type.
  let describe;
  const described = new Promise((resolve) => (describe = resolve));
  await page.route('**/openapi.json', async (route) => {
    await described;
    await route.continue();
  });
  await page.goto(`${SERVER_URL}/docs/appearance`);
  const chat = page.frameLocator('iframe');
  await chat.getByText('With pleasure. Which size?').waitFor();
  await page.getByLabel('Primary colour').fill('green');
  await page.locator('#problem', { hasText: 'primaryColor: ' }).waitFor();
  describe();
  await page.locator('#problem', { hasText: 'primaryColor: expected a value such as #0a7d4f' }).waitFor();
  assert.equal(await page.getByLabel('Primary colour').inputValue(), 'green');

  await page.getByLabel('Primary colour').fill('#0a7d4f');
  await page.getByLabel('Title', { exact: true }).fill('Boutique');
  await page.getByLabel('Radius').fill('4');
  await page.getByLabel('Language').selectOption('fr');
  await chat.getByRole('heading', { name: 'Boutique' }).waitFor();
  await chat.getByText('Avec plaisir. Quelle taille ?').waitFor();
  await chat.getByPlaceholder('Écrivez un message').waitFor();
  const brand = () => chat.locator('html').evaluate((html) => html.style.getPropertyValue('--brand'));
  assert.equal(await brand(), '#0a7d4f');
  const json = page.getByLabel('JSON', { exact: true });
  const expected = { primaryColor: '#0a7d4f', title: 'Boutique', radius: 4, language: 'fr' };
  assert.deepEqual(JSON.parse(await json.inputValue()), { appearance: expected });

  // A wrong value is not shown, and nothing is lost.
  await page.getByLabel('Primary colour').fill('green');
  assert.deepEqual(JSON.parse(await json.inputValue()), { appearance: expected });
  await page.locator('#problem', { hasText: 'primaryColor: expected a value such as #0a7d4f' }).waitFor();
  for (const [looks, named] of [
    ['"colour": "red", "language": "english"', /language: expected a value such as en\n?colour is not known; known are primaryColor, /],
    ['"radius": 29', 'radius: expected at most 28'],
    ['"launcher": { "position": "top" }', 'launcher.position: expected left or right'],
    ['"texts": { "de": { "greting": "Hallo" } }', 'texts.de.greting is not known; known are title, '],
    ['"greeting": "Hi"', 'greeting: greeting belongs into launcher'],
    ['"avatarUrl": "http://a.example/a.png"', 'avatarUrl: the page shows pictures over https only'],
    ['"language": "it"', "language: the page does not speak it, and takes the visitor's"],
    ['"texts": { "it": {} }', 'texts.it is not known; known are pt-BR, en, es, fr, de'],
  ]) {
    await json.fill(`{ "appearance": { ${looks} } }`);
    await page.locator('#problem', { hasText: named }).waitFor();
  }
  // What stands beside the looks is neither shown nor lost.
  const beside = '{ "appearance": { "title": "A" }, "launcher": { "position": "left" } }';
  await json.fill(beside);
  await page.locator('#problem', { hasText: 'launcher: move this into appearance' }).waitFor();
  assert.equal(await page.getByLabel('Subtitle').isDisabled(), true);
  assert.equal(await json.inputValue(), beside);
  // Other fields of the channel are kept.
  await json.fill('{ "name": "Shop", "appearance": { "title": "A" } }');
  assert.equal(await page.locator('#problem').innerText(), '');
  await page.getByLabel('Subtitle').fill('B');
  assert.deepEqual(JSON.parse(await json.inputValue()), { name: 'Shop', appearance: { title: 'A', subtitle: 'B' } });
  // A wrong field stays told while others are edited, and the JSON is not at fault.
  await page.getByLabel('Background').fill('green');
  await page.getByLabel('Subtitle').fill('C');
  await page.locator('#problem', { hasText: 'backgroundColor: expected a value such as' }).waitFor();
  assert.equal(await json.getAttribute('aria-invalid'), 'false');
  await json.fill('{ "title": "A" }');
  await page.locator('#problem', { hasText: 'A channel takes this inside of appearance' }).waitFor();
  // The texts of a language, without a change of what is stored.
  await json.fill('{ "appearance": { "title": "A", "texts": { "de": { "title": "Laden" } } } }');
  await page.getByLabel('Shown to a visitor in').selectOption('de');
  await chat.getByRole('heading', { name: 'Laden' }).waitFor();
  assert.equal(JSON.parse(await json.inputValue()).appearance.language, undefined);
  await page.getByLabel('Shown to a visitor in').selectOption('');
  await json.fill('{}');
  await page.getByLabel('Primary colour').fill('#0a7d4f');
  await json.fill('{ "primaryColor": ');
  await page.locator('#problem:not(:empty)').waitFor();
  assert.equal(await brand(), '#0a7d4f');
  await json.fill('{ "appearance": { "primaryColor": "#b3261e", "texts": { "en": { "title": "Shop" } }, "language": "en" } }');
  await chat.getByRole('heading', { name: 'Shop', exact: true }).waitFor();
  assert.equal(await page.getByLabel('Primary colour').inputValue(), '#b3261e');
  assert.equal(await page.locator('#problem').innerText(), '');
  await page.getByRole('button', { name: 'Copy the JSON' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await json.inputValue());
  // The launcher of the widget has its colour and its greeting.
  await json.fill('{ "primaryColor": "#b3261e", "language": "en", "launcher": { "position": "left", "greeting": "Hello, ' + 'can we help? '.repeat(14) + '" } }');
  const greeting = page.locator('.greeting', { hasText: 'Hello' });
  await greeting.waitFor();
  // It lies over nothing of the page, also where the window is low.
  await page.setViewportSize({ width: 1100, height: 420 });
  const inside = await page.locator('#corner').boundingBox();
  const bubble = await greeting.boundingBox();
  assert.ok(bubble.y >= inside.y && bubble.y + bubble.height <= inside.y + inside.height, 'the greeting is in its corner');
  assert.ok(bubble.x >= inside.x && bubble.x + bubble.width <= inside.x + inside.width, 'the greeting is in its corner');
  await page.setViewportSize({ width: 1100, height: 800 });
  assert.equal(await page.locator('.launcher').evaluate((launcher) => getComputedStyle(launcher).backgroundColor), 'rgb(179, 38, 30)');
  // A visitor's part can be tried; nobody answers.
  await chat.getByRole('button', { name: 'Large' }).click();
  await chat.locator('.message .bubble', { hasText: 'Large' }).waitFor();
  await shot(page, 'looks');
  await page.setViewportSize({ width: 360, height: 740 });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, 'nothing overflows on a phone');
});
