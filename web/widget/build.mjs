// Bundles the widget into one script: `node web/widget/build.mjs FOLDER` writes widget.js and widget.js.gz there, and sse.js, which the
// start page shares.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import * as esbuild from 'esbuild';

const target = ['chrome100', 'firefox104', 'safari16.4']; // the first versions with adopted style sheets and the other features used here

/** Imports a style sheet as text: the shadow root adopts it; it is never added to the page. */
const styleText = {
  name: 'style-text',
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(await readFile(path, 'utf8'), { loader: 'css', minify: true, target });
      return { contents: code, loader: 'text' };
    });
  },
};

/** The script as text. */
export async function bundleWidget() {
  const { outputFiles } = await esbuild.build({
    entryPoints: [fileURLToPath(new URL('main.ts', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [styleText],
  });
  return outputFiles[0].text;
}

/** sse.ts as a module without types. */
export async function eventsModule() {
  const source = await readFile(new URL('sse.ts', import.meta.url), 'utf8');
  return (await esbuild.transform(source, { loader: 'ts', target, charset: 'utf8' })).code;
}

export const compressed = (text) => gzipSync(Buffer.from(text), { level: 9 });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  if (!folder) throw new Error('usage: node build.mjs FOLDER');
  const script = await bundleWidget();
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/widget.js`, script);
  await writeFile(`${folder}/widget.js.gz`, compressed(script));
  await writeFile(`${folder}/sse.js`, await eventsModule());
}
