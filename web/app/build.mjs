// Bundles the chat app: `node web/app/build.mjs FOLDER` writes index.html, app-HASH.js, app-HASH.css, favicon-HASH.svg and
// licenses-HASH.txt (those of the packages in the bundle) there, each also gzipped. FOLDER is emptied first: old files would be embedded too.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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

/** The names, versions and licenses of the packages that these files come from. */
async function licensesOf(inputs) {
  const roots = new Set(inputs.map((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]).filter(Boolean));
  const texts = await Promise.all([...roots].sort().map(async (root) => {
    const folder = here(`../../${root}/`);
    const { name, version, license } = JSON.parse(await readFile(`${folder}package.json`, 'utf8'));
    const file = (await readdir(folder)).find((entry) => /^licen[sc]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${file ? (await readFile(folder + file, 'utf8')).trim() : ''}\n`;
  }));
  return Buffer.from(texts.join(`\n${'-'.repeat(80)}\n\n`));
}

async function bundle(entry, minify) {
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [here(entry)],
    bundle: true,
    minify,
    write: false,
    format: 'esm',
    target,
    jsx: 'automatic',
    charset: 'utf8',
    metafile: true,
    absWorkingDir: here('../..'),
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [oneLocale],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return { bytes: Buffer.from(outputFiles[0].contents), inputs: Object.keys(metafile.inputs) };
}

/** The files of the app by name: {name: bytes}. */
export async function buildApp({ minify = true } = {}) {
  const [script, style, icon, page] = await Promise.all([
    bundle('main.tsx', minify), bundle('style/app.css', minify), readFile(here('favicon.svg')), readFile(here('index.html'), 'utf8')]);
  const licenses = await licensesOf(script.inputs);
  const names = { 'app.js': `app-${hash(script.bytes)}.js`, 'app.css': `app-${hash(style.bytes)}.css`, 'favicon.svg': `favicon-${hash(icon)}.svg`,
    'licenses.txt': `licenses-${hash(licenses)}.txt` };
  const html = page.replace(/\/app\/assets\/([\w.]+)/g, (_, name) => `/app/assets/${names[name]}`);
  return { 'index.html': Buffer.from(html), [names['app.js']]: script.bytes, [names['app.css']]: style.bytes, [names['favicon.svg']]: icon,
    [names['licenses.txt']]: licenses };
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
