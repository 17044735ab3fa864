// How each trial of a page in a real browser begins and ends. Environment, all of it optional: SHOTS (folder for pictures),
// CHROMIUM (the browser), WAIT_MS (how long a page may take to show something).

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './launch.mjs';

export const { SHOTS } = process.env;
export const WAIT_MS = Number(process.env.WAIT_MS ?? 15_000);
if (SHOTS) mkdirSync(SHOTS, { recursive: true });

/** Returns a value that the environment has to have. */
export function needed(name) {
  const value = process.env[name];
  if (!value) {
    console.error(`${name} has to be set`);
    process.exit(2);
  }
  return value;
}

export const browser = await launch();
/** What goes wrong in a page beside the steps: the trial fails. */
export const problems = [];
const steps = [];

/** Opens a page in a context of its own. Its errors, and what its content security policy forbids, are problems. */
export async function newPage(options) {
  const context = await browser.newContext({ locale: 'pt-BR', viewport: { width: 1000, height: 700 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    if (/content security policy|trusted type/i.test(message.text())) problems.push(message.text());
  });
  return page;
}

export async function shot(page, name) {
  if (!SHOTS) return;
  // Whatever moves stands still by then.
  await page.waitForTimeout(900);
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

const openPages = () => browser.contexts().flatMap((context) => context.pages());

/** What every page and frame shows and where its focus is, for who reads the failure. */
async function looks() {
  const look = (frame) =>
    frame
      .evaluate(() => `focus: ${document.activeElement?.outerHTML.slice(0, 300)}\n${document.body.innerText}`)
      .catch((error) => error.message);
  const frames = openPages().flatMap((page) => page.frames());
  return (await Promise.all(frames.map(look))).join('\n--\n');
}

/** Runs a step. Its failure bears its name, and what the pages show. */
export async function step(name, run) {
  try {
    await run();
    steps.push(name);
  } catch (error) {
    error.message = `${name}: ${error.message}\n${await looks()}`;
    throw error;
  }
}

/** The same of a step that has its pages for itself: they are closed behind it. */
export async function stepAlone(name, run) {
  await step(name, run);
  for (const context of browser.contexts()) await context.close();
}

/** Runs a trial, closes what it needed, prints the result as a line of JSON, and ends the process. */
export async function trial(run, close = async () => {}) {
  let failure = null;
  try {
    await run();
    assert.deepEqual(problems, []);
  } catch (error) {
    failure = error;
    console.error(error);
    if (SHOTS) await openPages()[0]?.screenshot({ path: join(SHOTS, 'failure.png') }).catch(() => {});
  }
  await browser.close();
  await close();
  console.log(JSON.stringify({ ok: failure === null, steps, ...(failure ? { error: failure.message, problems } : {}) }));
  process.exit(failure ? 1 : 0);
}
