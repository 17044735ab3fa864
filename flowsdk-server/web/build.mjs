import { build } from 'esbuild';
import { readFileSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../assets/chat');
mkdirSync(out, { recursive: true });

const result = await build({
  absWorkingDir: here,
  entryPoints: { chat: 'src/main.tsx' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2020', 'safari15'],
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // The notices stand in THIRD-PARTY.txt.
  legalComments: 'none',
  metafile: true,
  logLevel: 'info',
});
await build({
  absWorkingDir: here,
  entryPoints: { chat: 'src/styles/chat.css' },
  outdir: out,
  bundle: true,
  minify: true,
  target: ['es2020', 'safari15'],
  charset: 'utf8',
  logLevel: 'info',
});
for (const name of ['index.html', 'icon.svg']) copyFileSync(join(here, 'src', name), join(out, name));

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
  if (name) packages.add(name);
}
const notices = [...packages].sort().map((name) => {
  const dir = join(here, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const text = readFileSync(join(dir, 'LICENSE'), 'utf8').replaceAll('\r\n', '\n').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
});
const head = 'chat.js contains the following packages.\n';
writeFileSync(join(out, 'THIRD-PARTY.txt'), [head, ...notices].join(`\n${'-'.repeat(72)}\n\n`));
