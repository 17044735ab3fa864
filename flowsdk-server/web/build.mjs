import { createHash } from 'node:crypto';
import { build, transform } from 'esbuild';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, '../assets');
const out = join(assets, 'chat');
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  target: ['es2020', 'safari15'],
  charset: 'utf8',
  // The notices stand in THIRD-PARTY.txt.
  legalComments: 'none',
  logLevel: 'info',
};

const result = await build({
  ...common,
  entryPoints: { chat: 'src/main.tsx' },
  outdir: out,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
});
await build({ ...common, entryPoints: { chat: 'src/styles/chat.css' }, outdir: out });

// A script of its own origin takes its styles along: a page may allow no others.
const widgetStyles = readFileSync(join(here, 'src/widget/widget.css'), 'utf8');
const { code: smallStyles } = await transform(widgetStyles, { loader: 'css', minify: true, target: common.target });
const widgetParts = { WIDGET_CSS: JSON.stringify(smallStyles.trim()) };
await build({
  ...common,
  entryPoints: { widget: 'src/widget/main.ts' },
  outdir: join(assets, 'widget'),
  format: 'iife',
  // Private members as the language has them: spelled out for browsers of before 2021 they are half of the script.
  target: ['es2022', 'safari15'],
  define: widgetParts,
});
// Browsers keep a file for good whose address names its contents.
const version = (name) => createHash('sha256').update(readFileSync(join(out, name))).digest('hex').slice(0, 16);
const page = readFileSync(join(here, 'src/index.html'), 'utf8');
writeFileSync(join(out, 'index.html'), page.replace(/chat\.(js|css)/g, (name) => `${name}?v=${version(name)}`));
for (const name of ['missing.html', 'icon.svg']) copyFileSync(join(here, 'src', name), join(out, name));

// The start page and the example shop of the demonstration.
const demo = { from: join(here, 'src/demo'), to: join(assets, 'demo') };
await build({
  ...common,
  entryPoints: ['start.css', 'shop.css', 'shop.js'].map((name) => join(demo.from, name)),
  outdir: demo.to,
  target: ['es2021', 'safari15'],
});
for (const name of ['start.html', 'shop.html']) copyFileSync(join(demo.from, name), join(demo.to, name));

// The page that tries looks, beside the description of the API.
const docs = { from: join(here, 'src/docs'), to: join(assets, 'docs') };
const looks = await build({
  ...common,
  entryPoints: ['appearance.css', 'appearance.js'].map((name) => join(docs.from, name)),
  outdir: docs.to,
  define: widgetParts,
  metafile: true,
});
const preview = await build({
  ...common,
  entryPoints: { frame: join(docs.from, 'frame.tsx') },
  outdir: docs.to,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
});
copyFileSync(join(docs.from, 'appearance.html'), join(docs.to, 'appearance.html'));
frame(docs.to, '/docs/appearance');

// The phone of the simulator.
const phone = { from: join(here, 'src/phone'), to: join(assets, 'phone') };
await build({
  ...common,
  entryPoints: ['phone.css', 'phone.js'].map((name) => join(phone.from, name)),
  outdir: phone.to,
});
const screen = await build({
  ...common,
  entryPoints: { frame: join(phone.from, 'frame.tsx') },
  outdir: phone.to,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
});
copyFileSync(join(phone.from, 'phone.html'), join(phone.to, 'phone.html'));
frame(phone.to, '/simulator/assets');

notices(out, result.metafile);
notices(docs.to, looks.metafile, preview.metafile);
notices(phone.to, screen.metafile);

/** Writes the page in which another page shows a chat; its script is in `folder` of the server. */
function frame(to, folder) {
  const page = readFileSync(join(here, 'src/frame.html'), 'utf8');
  writeFileSync(join(to, 'frame.html'), page.replace('{{folder}}', folder));
}

/** Writes the licences of the packages that are in the scripts of a folder. */
function notices(folder, ...metafiles) {
  const packages = new Set();
  for (const input of metafiles.flatMap((metafile) => Object.keys(metafile.inputs))) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (name) packages.add(name);
  }
  const texts = [...packages].sort().map((name) => {
    const dir = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    // One package comes without the text.
    const kept = join(here, 'licences', `${name.replace('/', '-')}.txt`);
    const text = readFileSync(existsSync(kept) ? kept : join(dir, 'LICENSE'), 'utf8').replaceAll('\r\n', '\n').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const head = 'The scripts beside this file contain the following packages.\n';
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), [head, ...texts].join(`\n${'-'.repeat(72)}\n\n`));
}
