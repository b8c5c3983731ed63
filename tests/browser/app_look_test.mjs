// Tests how the chat app fits its windows, works by keyboard alone, and passes axe-core, in light and dark. It also says how smoothly an
// answer streams, without judging it: that depends on the machine.

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { ask, desktop, focused, highlighted, phone, send, settled, sideways, until, violations, withApp } from './app_page.mjs';
import { startApp } from './app_server.mjs';
import { launch } from './browser.mjs';

const FIRST_LOAD_BYTES_MAX = 250 * 1024;

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await startApp();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

const onApp = (name, options, steps, path = '/app/chat') => test(name, () => withApp(browser, `${server.url}${path}`, options, steps));

test('the first load is small', () => {
  const bytes = Object.values(server.state.files).reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
  assert.ok(bytes <= FIRST_LOAD_BYTES_MAX, `${bytes} bytes`);
});

for (const [size, options] of [['1440 px', desktop], ['390 px', phone]]) {
  for (const colorScheme of ['light', 'dark']) {
    onApp(`axe-core finds nothing at ${size}, ${colorScheme}`, { ...options, colorScheme }, async (page) => {
      const check = async (what) => {
        assert.deepEqual(await violations(page), [], what);
        assert.equal(await sideways(page), 0, `${what}: nothing is cut off at the side`);
      };
      await page.locator('.example').first().waitFor();
      await check('the welcome');
      for (const question of ['markdown', 'doubts', 'quoted', 'refuse']) await ask(page, question);
      await check('answers and a refusal');
      await page.locator('.cite').first().click();
      await highlighted(page);
      await check('the open source');
      await page.keyboard.press('Escape');
      await page.waitForSelector('.panel', { state: 'detached' });
      await page.getByRole('button', { name: 'Filters' }).click();
      await check('the filters');
      await page.keyboard.press('Escape');
      if (options === phone) {
        await page.getByRole('button', { name: 'Show the conversations' }).click();
        await page.waitForSelector('.drawer[open] .row');
      }
      await check('the list');
    });
  }
}

onApp('the search page passes axe-core too', phone, async (page) => {
  await page.getByLabel('Search for').fill('leave');
  await page.locator('.hit').first().waitFor();
  assert.deepEqual(await violations(page), []);
  assert.equal(await sideways(page), 0);
}, '/app/search');

onApp('everything works by keyboard alone', {}, async (page) => {
  const tabTo = async (wanted, key = 'Tab') => {
    for (let i = 0; i < 60; i++) {
      if ((await focused(page)) === wanted) return;
      await page.keyboard.press(key);
    }
    assert.fail(`Tab never reaches ${wanted}; it stopped at ${await focused(page)}`);
  };
  assert.equal(await focused(page), '#question');
  await page.keyboard.type('How long is parental leave?');
  await page.keyboard.press('Enter');
  assert.equal(await settled(page), 'done');
  await tabTo('Source 1: Parental leave, time-off/parental-leave.md (checked)', 'Shift+Tab');
  await page.waitForSelector('.hover-card');
  await page.keyboard.press('Enter');
  assert.match(await highlighted(page), /^Every parent may|^The first nine/);
  assert.equal(await focused(page), 'Text of Parental leave');
  await page.keyboard.press('Escape');
  await until(page, () => document.activeElement.classList.contains('cite'));
  await tabTo('Good answer');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelector('[aria-label="Good answer"]').ariaPressed === 'true');
  await tabTo('Edit question', 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.type(' Really?');
  await page.keyboard.press('Enter');
  await page.getByText('How long is parental leave? Really?').first().waitFor();
  assert.equal(await settled(page), 'done');
  await page.keyboard.press('Control+k');
  await until(page, () => document.activeElement.type === 'search');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Rename' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.type('By keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'By keyboard' }).waitFor();
});

onApp('on a phone the list is a drawer and the source a sheet', phone, async (page) => {
  await ask(page, 'How long is leave?');
  await page.locator('.cite').first().tap();
  await highlighted(page);
  const sheet = await page.locator('.panel').boundingBox();
  assert.ok(sheet.width === 390 && sheet.y > 60, JSON.stringify(sheet));
  await page.getByRole('button', { name: 'Close source' }).tap();
  await page.getByRole('button', { name: 'Show the conversations' }).tap();
  await page.locator('.drawer .row a').first().tap();
  await page.waitForSelector('.drawer', { state: 'hidden' });
});

onApp('the colours follow the system until they are chosen', { colorScheme: 'dark' }, async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(await paper(), 'rgb(18, 20, 25)');
  await page.getByRole('button', { name: /^Colours/ }).click();
  await until(page, () => getComputedStyle(document.documentElement).backgroundColor === 'rgb(252, 252, 250)');
  await page.reload();
  await page.waitForSelector('#question');
  assert.equal(await paper(), 'rgb(252, 252, 250)', 'the choice is kept');
});

onApp('an answer at 200 tokens a second is drawn while it comes', {}, async (page) => {
  await page.evaluate(() => {
    globalThis.longTasks = [];
    new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ type: 'longtask' });
  });
  await send(page, 'fast 3');
  await until(page, () => document.querySelectorAll('.prose table').length > 3);
  assert.equal(await page.locator('.answer[data-state="streaming"]').count(), 1, 'the beginning is there before the end');
  assert.equal(await settled(page), 'done');
  const tasks = await page.evaluate(() => globalThis.longTasks);
  console.log(`long tasks (over 50 ms) while 600 tokens streamed at 200 a second: ${tasks.length ? tasks.join(', ') : 'none'}`);
  assert.doesNotMatch(await page.innerText('.prose'), /\*\*|\|---/);
});
