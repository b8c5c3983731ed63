// Tests the chat app with the real binary and examples/handbook: its files, a conversation from question to deletion, a refusal, search.
// Run: FOOTNOTE_URL=http://127.0.0.1:7700 node --test tests/browser/app_e2e_test.mjs

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { buildApp } from '../../web/app/build.mjs';
import { ask, highlighted, phone, settled, sideways, until, violations, withApp } from './app_page.mjs';
import { launch } from './browser.mjs';

const url = process.env.FOOTNOTE_URL;
assert.ok(url, 'FOOTNOTE_URL is not set: start `footnote serve` with examples/handbook ingested and name its address');
const question = 'How many days of unused leave can I carry over into next year?';

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const onApp = (name, options, steps, path = '/app/chat') => test(name, () => withApp(browser, `${url}${path}`, options, steps));
const button = (page, name) => page.getByRole('button', { name, exact: true });

test('the server serves this tree’s app, compressed and for good', async () => {
  for (const [name, bytes] of Object.entries(await buildApp())) {
    const response = await fetch(`${url}${name === 'index.html' ? '/app/chat' : `/app/assets/${name}`}`, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(response.status, 200, name);
    assert.equal(Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes), 0, `${name} is an older build`);
    if (name === 'index.html') assert.match(response.headers.get('content-security-policy'), /script-src 'self'; style-src 'self'.*require-trusted-types-for 'script'/);
    else assert.match(response.headers.get('cache-control'), /immutable/);
  }
});

onApp('a question is answered from the handbook; the conversation is kept, found again and deleted', {}, async (page) => {
  assert.ok((await page.locator('.example').first().innerText()).length > 10, 'questions are made from headings');
  assert.equal(await ask(page, question), 'done');
  await page.locator('.cite').first().click();
  assert.match(await highlighted(page), /five/i);
  assert.match(await page.innerText('.panel-path'), /annual-leave\.md/);
  assert.doesNotMatch(await page.innerText('.panel-text'), /##|\]\(/);
  await page.keyboard.press('Escape');
  await button(page, 'Good answer').click();
  await until(page, () => document.querySelector('[aria-label="Good answer"]').ariaPressed === 'true');
  await ask(page, 'And can I sell some of them?');
  await page.reload();
  await until(page, () => document.querySelectorAll('.turn .answer').length === 2);
  assert.ok((await page.locator('.cite').count()) > 0, 'stored answers have their citations');
  await until(page, () => document.querySelector('[aria-label="Good answer"]').ariaPressed === 'true');
  assert.deepEqual(await violations(page), []);
  await page.locator('.row[data-current] .row-more').click();
  await button(page, 'Delete').click();
  await button(page.getByRole('dialog', { name: 'Delete conversation' }), 'Delete').click();
  await page.waitForSelector('.welcome');
});

onApp('questions and answers branch on the server too', {}, async (page) => {
  await ask(page, question);
  await button(page, 'Answer again').click();
  await page.locator('.meta .branch-count').waitFor();
  assert.equal(await page.innerText('.meta .branch-count'), '2 of 2');
  await page.press('#question', 'ArrowUp');
  await page.fill('.question-edit textarea', 'When is salary paid?');
  await page.keyboard.press('Enter');
  await page.locator('.question .branch-count').waitFor();
  assert.equal(await page.innerText('.question .branch-count'), '2 of 2');
  await button(page, 'Previous question').click();
  assert.equal(await page.innerText('.question h2'), question);
  await page.reload();
  await until(page, (wanted) => document.querySelector('.question h2')?.textContent === wanted, question);
});

onApp('a refusal names the closest matches and becomes a gap', phone, async (page) => {
  assert.equal(await ask(page, 'What is the melting point of tungsten carbide in kelvin?'), 'refused');
  assert.ok((await page.innerText('.refusal h3')).length > 10);
  await button(page, 'This should be known').click();
  await page.getByText('Noted as a gap').waitFor();
  assert.equal(await sideways(page), 0);
});

onApp('search finds passages as one types', {}, async (page) => {
  await page.getByLabel('Search for').fill('carry over leave');
  await page.locator('.hit').first().waitFor();
  await page.locator('.hit').first().click();
  await page.waitForSelector('.panel .doc');
}, '/app/search');

onApp('a file that is added is answered from', {}, async (page) => {
  await page.setInputFiles('input[aria-label="Files to add"]', [{ name: 'zeppelin.md', mimeType: 'text/markdown',
    buffer: Buffer.from('# The zeppelin\n\nThe company zeppelin is called Hortensia and departs from hangar seven every second Tuesday.\n') }]);
  await page.getByText('1 file: 1 added').waitFor();
  assert.equal(await ask(page, 'What is the name of the company zeppelin?'), 'done');
  assert.match(await page.innerText('.prose'), /Hortensia/);
  await page.locator('.cite').first().click();
  assert.match(await highlighted(page), /Hortensia/);
});

onApp('hostile documents stay text, through the real pipeline', {}, async (page) => {
  const evil = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> [x](javascript:window.pwned=1) ![y](https://evil.example/y.png)';
  await page.setInputFiles('input[aria-label="Files to add"]', [{ name: 'evil.md', mimeType: 'text/markdown',
    buffer: Buffer.from(`# Quokka ${evil}\n\nThe quokka of the reception is called Balthazar ${evil} and sleeps at noon.\n`) }]);
  await page.getByText('1 file: 1 added').waitFor();
  assert.ok(['done', 'refused'].includes(await ask(page, 'What is the quokka of the reception called?')));
  if (await page.locator('.cite').count()) await page.locator('.cite').first().click();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('#app img, #app script, #app a[href^="javascript"]').count(), 0);
  await settled(page);
});
