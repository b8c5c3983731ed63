// The chat app in a browser: what its tests do and look at.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { openPage } from './browser.mjs';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
export const desktop = { viewport: { width: 1440, height: 900 } };
const WAIT_MS = 30_000;

/** Opens a page of the app, runs the steps, and checks for console errors, CSP violations and requests to other hosts. */
export async function withApp(browser, address, options, steps, { allowed = /^$/ } = {}) {
  const { page, troubles, close } = await openPage(browser, address, { reducedMotion: 'reduce', ...desktop, ...options });
  page.setDefaultTimeout(WAIT_MS);
  try {
    await page.waitForSelector('#question, .search-page input');
    await steps(page);
    assert.deepEqual(troubles.filter((trouble) => !allowed.test(trouble)), []);
  } finally {
    await close();
  }
}

export const send = async (page, question) => {
  await page.fill('#question', question);
  await page.press('#question', 'Enter');
};

/** Waits until the last turn has ended; returns its state: done, refused or stopped. */
export async function settled(page) {
  const last = page.locator('.turn').last().locator('.answer:not([data-state="streaming"])');
  await last.waitFor();
  return last.getAttribute('data-state');
}

export async function ask(page, question) {
  const before = await page.locator('.turn').count();
  await send(page, question);
  await page.waitForFunction((count) => document.querySelectorAll('.turn').length > count, before);
  return settled(page);
}

/** What axe-core finds, as "rule: element". It is run by the browser's debugger, so the policy of the page stays as it is. */
export async function violations(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations: found } = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`));
  });
}

/** The active passage of the open source, with white space collapsed. */
export async function highlighted(page) {
  await page.waitForSelector('.panel mark.active');
  return (await page.locator('.panel mark.active').allTextContents()).join('').replace(/\s+/g, ' ').trim();
}

export const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
export const until = (page, condition, argument) => page.waitForFunction(condition, argument);
export const focused = (page) => page.evaluate(() => {
  const { activeElement: element } = document;
  return element.id ? `#${element.id}` : element.getAttribute('aria-label') ?? `.${[...element.classList].join('.')}`;
});
