// Tests the start page with the real server and examples/handbook ingested.
// Run: FOOTNOTE_URL=http://127.0.0.1:7700 node --test tests/browser/first_page_test.mjs

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { activeSelector, ask, highlighted, launch, openPage, settled, sidewaysScroll } from './browser.mjs';
import { pageFiles } from './page_files.mjs';

const url = process.env.FOOTNOTE_URL;
assert.ok(url, 'FOOTNOTE_URL is not set: start `footnote serve` with examples/handbook ingested and name its address');

const repository = new URL('../../', import.meta.url);
const lines = (await readFile(new URL('eval/handbook/questions.jsonl', repository), 'utf8')).split('\n').filter(Boolean);
const questions = new Map(lines.map((line) => JSON.parse(line)).map((entry) => [entry.id, entry]));
const pick = (...ids) => ids.map((id) => questions.get(id) ?? assert.fail(`eval/handbook has no question ${id}`));

const answered = pick('h001', 'h049', 'h039'); // Markdown, a date, HTML
const refused = pick('h127', 'h128');
const plain = (text) => text.replace(/[*_`]/g, '').replace(/\s+/g, ' ').trim();

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** Opens the page, runs the steps, and checks for console errors, CSP violations and requests to other hosts. */
function onPage(name, options, steps) {
  test(name, async () => {
    const { page, troubles, close } = await openPage(browser, url, options);
    try {
      await steps(page);
      assert.deepEqual(troubles, []);
    } finally {
      await close();
    }
  });
}

/** Opens citations until one shows the expected sentence of the expected document. */
async function opensQuote(page, { path, quote }) {
  const seen = [];
  for (const cite of await page.locator('.cite').all()) {
    await cite.click();
    const sentence = await highlighted(page);
    const place = await page.textContent('#panel-path');
    if (place.includes(path) && plain(sentence).includes(plain(quote))) return;
    seen.push(`${place}: ${sentence}`);
    await page.keyboard.press('Escape');
  }
  assert.fail(`no citation opens “${quote}” in ${path}; they open: ${seen.join(' | ') || 'nothing'}`);
}

test('the server serves this tree’s page, with its policy', async () => {
  for (const path of ['/', '/assets/app.js', '/assets/style.css', '/assets/favicon.svg']) assert.ok(pageFiles.has(path), path);
  for (const [path, file] of pageFiles) {
    const response = await fetch(new URL(path, url), {headers: {accept: 'text/html,*/*'}});
    assert.equal(response.status, 200, path);
    assert.equal(await response.text(), (await file.read()).toString('utf8'), `${path} is an older build`);
    assert.equal(response.headers.get('content-type'), file.type, path);
    assert.match(response.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/);
  }
});

for (const entry of answered) {
  onPage(`answers “${entry.question}” and opens the sentence`, {}, async (page) => {
    const streamed = page.waitForResponse((response) => response.url().endsWith('/api/kb/chat/stream'));
    await ask(page, entry.question);
    const response = await streamed;
    assert.equal(response.status(), 200);
    assert.match(response.headers()['content-type'], /^text\/event-stream/);
    assert.equal(await settled(page), 'done');
    assert.ok((await page.locator('.cite').count()) > 0, 'the answer cites');
    assert.match(await page.locator('.cite').first().getAttribute('aria-label'), /^Source \d+: .+, .+/);
    assert.ok((await page.locator('.notes > ol > li').count()) > 0, 'sources are listed');
    await opensQuote(page, entry);
    const box = await page.locator('mark.active').first().boundingBox();
    assert.ok(box.y > 0 && box.y < 800, 'the sentence is in view');
  });
}

for (const entry of refused) {
  onPage(`refuses “${entry.question}”`, {}, async (page) => {
    await ask(page, entry.question);
    assert.equal(await settled(page), 'refused');
    assert.match(await page.textContent('.refusal h3'), /Not in these documents/);
    assert.equal(await page.locator('.cite').count(), 0);
    const nearest = page.locator('.near');
    if ((await nearest.count()) > 0) {
      await nearest.first().click();
      await page.waitForSelector('#panel .doc > *');
    }
  });
}

onPage('works by keyboard alone', {}, async (page) => {
  assert.equal(await activeSelector(page), '#question');
  await page.keyboard.type(answered[0].question);
  await page.keyboard.press('Enter');
  assert.equal(await settled(page), 'done');
  await page.keyboard.press('Tab'); // Ask
  await page.keyboard.press('Tab');
  assert.equal(await activeSelector(page), '.cite');
  await page.keyboard.press('Enter');
  assert.notEqual(await highlighted(page), '');
  await page.keyboard.press('Escape');
  assert.equal(await page.isVisible('#panel'), false);
  assert.equal(await activeSelector(page), '.cite');
});

onPage('fits a phone in the dark', { viewport: { width: 360, height: 740 }, hasTouch: true, colorScheme: 'dark' }, async (page) => {
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), 'rgb(18, 20, 25)');
  assert.equal(await sidewaysScroll(page), 0);
  await ask(page, answered[0].question);
  assert.equal(await settled(page), 'done');
  assert.equal(await sidewaysScroll(page), 0);
  await page.locator('.cite').first().tap();
  await highlighted(page);
  assert.equal(await sidewaysScroll(page), 0);
});

onPage('shows what was asked as text, whatever it is', {}, async (page) => {
  const probe = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> javascript:alert(1)';
  await ask(page, probe);
  assert.ok(['done', 'refused'].includes(await settled(page)));
  assert.equal(await page.textContent('.turn-question'), probe);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('#answer img, #answer script, #answer a').count(), 0);
});

onPage('answers its own examples', {}, async (page) => {
  await page.waitForSelector('#corpus-line:not(:empty)');
  const { questions: examples } = await (await fetch(new URL('/api/examples', url))).json();
  for (const [i, example] of examples.slice(0, 3).entries()) {
    await page.click('#home-link');
    await page.locator('.example').nth(i).click();
    assert.ok(['done', 'refused'].includes(await settled(page)), example);
    assert.equal(await page.textContent('.turn-question'), example);
  }
});
