// Bundles the chat app: `node web/app/build.mjs FOLDER` writes index.html, app-HASH.js, app-HASH.css and favicon-HASH.svg there, each also
// gzipped. FOLDER is emptied first: old files would be embedded too.

import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';

const target = ['chrome123', 'firefox126', 'safari17.5']; // the first versions with light-dark() and the other features used here
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 12);

/** The AI SDK's parser comes with its messages in 60 languages; nobody sees them here. */
const oneLocale = {
  name: 'one-locale',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: "export { default as en } from './en.js';" }));
  },
};

async function bundle(entry, minify) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [here(entry)],
    bundle: true,
    minify,
    write: false,
    format: 'esm',
    target,
    jsx: 'automatic',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [oneLocale],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return Buffer.from(outputFiles[0].contents);
}

/** The files of the app by name: {name: bytes}. */
export async function buildApp({ minify = true } = {}) {
  const [script, style, icon, page] = await Promise.all([
    bundle('main.tsx', minify), bundle('style/app.css', minify), readFile(here('favicon.svg')), readFile(here('index.html'), 'utf8')]);
  const names = { 'app.js': `app-${hash(script)}.js`, 'app.css': `app-${hash(style)}.css`, 'favicon.svg': `favicon-${hash(icon)}.svg` };
  const html = page.replace(/\/app\/assets\/([\w.]+)/g, (_, name) => `/app/assets/${names[name]}`);
  return { 'index.html': Buffer.from(html), [names['app.js']]: script, [names['app.css']]: style, [names['favicon.svg']]: icon };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  if (!folder) throw new Error('usage: node build.mjs FOLDER');
  const files = await buildApp();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) {
    await writeFile(`${folder}/${name}`, bytes);
    await writeFile(`${folder}/${name}.gz`, gzipSync(bytes, { level: 9 }));
  }
}
