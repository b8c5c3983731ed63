// A visit to the demonstration shop, with a real server or, without one, the scripted server.
// Run: node tests/browser/widget_e2e_test.mjs --url http://127.0.0.1:7700, a server started with --demo; FOOTNOTE_URL works too.

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { launch, openPage } from './browser.mjs';
import { becomes, desktop, phone, WidgetPage } from './widget_page.mjs';
import { startWidgetServer } from './widget_server.mjs';

const { values } = parseArgs({ options: { url: { type: 'string' } }, strict: false });
const questions = ['How long do I have to send things back?', 'Can the Cairn boots be resoled?'];

let url = values.url ?? process.env.FOOTNOTE_URL;
let scripted;
let browser;
before(async () => {
  if (!url) {
    scripted = await startWidgetServer({ pace: 2 });
    ({ url } = scripted);
  }
  url = url.replace(/\/$/, '');
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await scripted?.close();
});

/** Opens the shop, runs the steps, and checks that no error occurred in the background. */
function visit(name, options, steps) {
  test(name, async () => {
    const { page, troubles, close } = await openPage(browser, `${url}/demo/shop/`, options);
    try {
      await steps(new WidgetPage(page), page);
      assert.deepEqual(troubles, []);
    } finally {
      await close();
    }
  });
}

test('the script is there for pages of other sites', async () => {
  const response = await fetch(`${url}/widget.js`, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/javascript/);
  assert.equal(response.headers.get('cross-origin-resource-policy'), 'cross-origin');
});

for (const [name, options] of [['1440 px, light', desktop], ['390 px, dark', { ...phone, colorScheme: 'dark' }]]) {
  visit(`a question is answered from the shop’s pages, with sources: ${name}`, options, async (widget) => {
    await widget.open();
    assert.deepEqual(await widget.violations(), []);
    for (const question of questions) assert.equal(await widget.ask(question), 'done');
    assert.match(await widget.prose.first().textContent(), /60 days/);
    const sources = await widget.find('a.source').evaluateAll((links) => links.map((link) => link.href));
    assert.ok(sources.some((source) => source.includes('/demo/shop/returns.html')), sources.join(' '));
    assert.match(await widget.find('a.cite').first().getAttribute('aria-label'), /^Source \d+: ./);
    assert.notEqual(await widget.status.textContent(), '');
    assert.deepEqual(await widget.violations(), []);
    assert.equal(await widget.sidewaysScroll(), 0);
  });
}

visit('an answer is judged, and the conversation goes on with the next page', desktop, async (widget, page) => {
  await widget.open();
  await widget.ask(questions[0]);
  const said = await widget.prose.textContent();
  const judged = page.waitForResponse((response) => response.url().endsWith('/feedback'));
  await widget.find('.thumb.up').click();
  assert.equal((await judged).status(), 204);
  await page.getByRole('link', { name: 'Sizes' }).click();
  await page.waitForURL('**/sizes.html');
  await widget.find('.answer').waitFor();
  assert.equal(await widget.prose.textContent(), said);
  await becomes(() => widget.find('.thumb.up').getAttribute('aria-pressed'), 'true');
});

visit('a product page that is looked at is sent along', desktop, async (widget, page) => {
  await page.goto(`${url}/demo/shop/lantern-tent.html`);
  await widget.open();
  const sent = page.waitForRequest((request) => request.url().endsWith('/messages/stream'));
  await widget.say('How much does it weigh?');
  const { page_context: context } = (await sent).postDataJSON();
  assert.match(context.visible_text, /2\.1 kg/);
  assert.equal(await widget.settled(), 'done');
});
