// Tests the start page with a server that needs an API key.
// Run: FOOTNOTE_URL=http://127.0.0.1:7700 FOOTNOTE_KEY=fn_live_... node --test tests/browser/key_test.mjs

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { activeSelector, ask, launch, openPage, settled, sidewaysScroll } from './browser.mjs';

const { FOOTNOTE_URL: url, FOOTNOTE_KEY: key } = process.env;
assert.ok(url && key, 'FOOTNOTE_URL and FOOTNOTE_KEY are not set');
const question = 'How many days of unused leave can I carry over into next year?';
const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const refused = /console error: Failed to load resource.*401/;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

function onPage(name, options, steps) {
  test(name, async () => {
    const { page, troubles, close } = await openPage(browser, url, options);
    try {
      await steps(page);
      assert.deepEqual(troubles.filter((trouble) => !refused.test(trouble)), []);
    } finally {
      await close();
    }
  });
}

onPage('asks for the key, once, by keyboard alone, and goes on', {}, async (page) => {
  await page.waitForSelector('#key-dialog[open]');
  assert.equal(await activeSelector(page), '#key-field');
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#key-dialog', { state: 'hidden' });
  await page.waitForFunction(() => document.querySelector('#corpus-line').textContent.includes('documents read'));
  await ask(page, question);
  assert.equal(await settled(page), 'done');
  await page.locator('.cite').first().click();
  await page.waitForSelector('#panel-text mark.active');
  await page.reload();
  await page.waitForFunction(() => document.querySelector('#corpus-line').textContent.includes('documents read'));
  assert.equal(await page.locator('#key-dialog[open]').count(), 0, 'the tab remembers it');
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage) + document.cookie), '{}', 'and nothing else does');
});

onPage('says that a key was not accepted, and lets go', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }, async (page) => {
  await page.waitForSelector('#key-dialog[open]');
  assert.equal(await sidewaysScroll(page), 0);
  await page.fill('#key-field', 'fn_live_wrong');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('#key-note').textContent.includes('not accepted'));
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }));
  assert.deepEqual(violations.map(({ id }) => id), []);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/key-dark.png` });
  await page.keyboard.press('Escape');
  await page.waitForSelector('#key-dialog', { state: 'hidden' });
  await ask(page, question);
  await page.waitForSelector('#key-dialog[open]');
  await page.click('#key-cancel');
  assert.equal(await settled(page), 'failed');
  assert.match(await page.textContent('#answer'), /needs an API key/);
});
