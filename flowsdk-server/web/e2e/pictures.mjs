// Draws the pictures of the documents from a running demonstration. Environment: SERVER_URL (its address), CHROMIUM
// (optional). The demonstration is to speak English: `flowsdk-server demo --lang en`.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './launch.mjs';

const { SERVER_URL } = process.env;
if (!SERVER_URL) {
  console.error('SERVER_URL has to be set');
  process.exit(2);
}
const FOLDER = join(import.meta.dirname, '../../../docs/pictures');
mkdirSync(FOLDER, { recursive: true });

const browser = await launch();
const context = await browser.newContext({ viewport: { width: 960, height: 640 }, locale: 'en-US', colorScheme: 'light' });
const page = await context.newPage();

await page.goto(`${SERVER_URL}/demo`);
await page.evaluate(() => window.flowsdk.open());
const chat = page.frameLocator('iframe');
const say = async (text, answer) => {
  await chat.getByRole('textbox').fill(text);
  await chat.getByRole('textbox').press('Enter');
  await chat.getByText(answer).last().waitFor();
};
await chat.getByText('What is your name?').waitFor();
await say('Ana', 'What would you like to do?');
await chat.getByRole('button', { name: 'Place an order' }).click();
await chat.getByText('How many units?').waitFor();
await say('12', 'Enter a number from 1 to 10.');
await say('7', 'You get a discount!');
await page.mouse.move(1, 1);
await page.screenshot({ path: join(FOLDER, 'widget.png') });
await browser.close();
console.log(join(FOLDER, 'widget.png'));
