// Tests signing in to the chat app with the real binary and an API key of the scope `read`.
// Run: FOOTNOTE_URL=http://127.0.0.1:7700 FOOTNOTE_KEY=fn_live_... node --test tests/browser/app_key_test.mjs

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { ask, until, withApp } from './app_page.mjs';
import { launch } from './browser.mjs';

const { FOOTNOTE_URL: url, FOOTNOTE_KEY: key } = process.env;
assert.ok(url && key, 'FOOTNOTE_URL and FOOTNOTE_KEY are not set');
const question = 'How many days of unused leave can I carry over into next year?';

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const refused = { allowed: /status of 401/ };

test('a key is exchanged for a cookie that scripts cannot read, and the session survives a reload', () => withApp(browser, `${url}/app/chat`, {}, async (page) => {
  await page.getByLabel('API key').fill('fn_live_wrong');
  await page.keyboard.press('Enter');
  await page.getByText('That key was not accepted').waitFor();
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelector('.corpus-line').textContent.includes('documents read'));
  assert.equal(await ask(page, question), 'done');
  const cookies = await page.context().cookies();
  assert.equal(cookies.length, 1);
  assert.match(cookies[0].name, /^footnote_session/);
  assert.ok(cookies[0].httpOnly && cookies[0].sameSite === 'Strict' && !cookies[0].value.includes(key));
  assert.equal(await page.evaluate(() => document.cookie), '');
  await page.reload();
  await until(page, () => document.querySelector('.turn .answer'));
  assert.equal(await page.locator('dialog.dialog[open]').count(), 0, 'nobody is asked again');
  assert.equal(await page.getByText('Add documents').count(), 0, 'this key may only read');
  await page.getByText('Sign out').click();
  await page.getByLabel('API key').waitFor();
  assert.equal((await page.context().cookies()).length, 0);
}, refused));

test('a session does not help pages of other ports, other sites, or requests without an origin', async () => {
  const origin = new URL(url).origin;
  const signIn = await fetch(`${url}/api/session`, { method: 'POST', headers: { 'content-type': 'application/json', origin }, body: JSON.stringify({ key }) });
  assert.equal(signIn.status, 200);
  const cookie = signIn.headers.get('set-cookie').split(';')[0];
  const post = (headers) => fetch(`${url}/api/search`, { method: 'POST', headers: { 'content-type': 'application/json', cookie, ...headers }, body: '{"query":"leave"}' });
  assert.equal((await post({ origin })).status, 200);
  assert.equal((await post({})).status, 401);
  assert.equal((await post({ origin: 'http://127.0.0.1:1' })).status, 401, 'another port of this host');
  assert.equal((await post({ origin: 'https://evil.example' })).status, 403);
  assert.equal((await post({ origin, 'sec-fetch-site': 'same-site' })).status, 401);
  assert.equal((await fetch(`${url}/api/corpora`, { headers: { cookie, 'sec-fetch-site': 'same-site' } })).status, 401);
  assert.equal((await fetch(`${url}/api/corpora`, { headers: { cookie: cookie.replace(/.$/, (last) => (last === '0' ? '1' : '0')) } })).status, 401, 'a forged session');
});
