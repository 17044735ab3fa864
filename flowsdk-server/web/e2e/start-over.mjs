// An author starts over with two tabs open, in a test channel whose flow speaks first. Environment: CHAT_URL,
// and that of every trial.

import assert from 'node:assert/strict';
import { cuttable } from './proxy.mjs';
import { WAIT_MS, browser, needed, trial } from './trial.mjs';

const CHAT_URL = needed('CHAT_URL');
const line = await cuttable(CHAT_URL);
const texts = (page) => page.locator('.message .bubble:not(.typing)').allInnerTexts();

/** Waits until a page shows this many messages. */
async function shows(page, count) {
  await page.waitForFunction(
    (count) => document.querySelectorAll('.message .bubble:not(.typing)').length === count,
    count,
    { timeout: WAIT_MS },
  );
}

async function run() {
  const context = await browser.newContext({ locale: 'en-GB' });
  const [one, two] = [await context.newPage(), await context.newPage()];
  for (const page of [one, two]) {
    page.setDefaultTimeout(WAIT_MS);
    await page.goto(line.url);
    await shows(page, 1);
  }
  const startOver = one.getByRole('button', { name: 'Start new conversation' });
  await one.bringToFront();
  for (let round = 0; round < 6; round += 1) {
    await one.getByPlaceholder('Write a message').fill(`Ana ${round}`);
    await one.keyboard.press('Enter');
    await two.locator('.bubble', { hasText: `Ana ${round}` }).first().waitFor();
    await startOver.click();
    // The flow speaks first, to both.
    for (const page of [one, two]) await shows(page, 1);
    assert.deepEqual(await texts(two), await texts(one));
  }
  // Where nobody is connected, the tab that stays behind takes nothing back.
  line.cut();
  await one.getByText('No connection. Trying to reconnect…').waitFor();
  await startOver.click();
  await one.getByPlaceholder('Write a message').fill('Bea');
  await one.keyboard.press('Enter');
  line.mend();
  for (const page of [one, two]) await page.locator('.bubble', { hasText: 'Bea' }).first().waitFor();
  assert.equal((await texts(one)).some((text) => text.startsWith('Ana')), false, 'the conversation is a new one');
}

await trial(run, () => line.close());
