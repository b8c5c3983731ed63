// The files of the start page, by the path that the C++ server uses: everything that it embeds from web/first, and sse.js.

import { readdir, readFile } from 'node:fs/promises';
import { eventsModule } from '../../web/widget/build.mjs';

const folder = new URL('../../web/first/', import.meta.url);

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const extension = (name) => name.split('.').at(-1);

/** Path -> {type, read(): its current bytes}. */
export const pageFiles = new Map((await readdir(folder))
  .filter((name) => Object.hasOwn(types, extension(name)))
  .map((name) => [name === 'index.html' ? '/' : `/assets/${name}`,
    { type: types[extension(name)], read: () => readFile(new URL(name, folder)) }]));
pageFiles.set('/assets/sse.js', { type: types.js, read: async () => Buffer.from(await eventsModule()) });
