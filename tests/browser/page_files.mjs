// The files of the first page, by the address that the C++ server gives them: all that it embeds of web/first.

import { readdir, readFile } from 'node:fs/promises';

const folder = new URL('../../web/first/', import.meta.url);

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const extension = (name) => name.split('.').at(-1);

/** Address -> {type, read(): its bytes as they are now}. */
export const pageFiles = new Map((await readdir(folder))
  .filter((name) => Object.hasOwn(types, extension(name)))
  .map((name) => [name === 'index.html' ? '/' : `/assets/${name}`,
    { type: types[extension(name)], read: () => readFile(new URL(name, folder)) }]));
