// `npm run e2e`: the checks against the mock, on a free port.

import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMock } from './mock-server.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const mock = await startMock();
const env = { ...process.env, SERVER_URL: mock.url, CHANNEL_ID: 'demo', CHAT_URL: `${mock.url}/chat/demo`, MOCK: '1' };

let failed = false;
for (const script of process.argv.slice(2).length ? process.argv.slice(2) : ['client.mjs', 'browser.mjs', 'page.mjs', 'widget.mjs']) {
  const code = await new Promise((resolve) => {
    spawn(process.execPath, [join(here, script)], { env, stdio: 'inherit' }).on('exit', resolve);
  });
  console.log(`${script}: ${code === 0 ? 'ok' : 'failed'}`);
  failed ||= code !== 0;
}
await mock.close();
process.exit(failed ? 1 : 0);
