// Tests the widget with the scripted server: on the demonstration shop and on a hostile page. No C++ needed.
// Run: node --test tests/browser/widget_test.mjs

import test, { after, before, beforeEach, describe } from 'node:test';
import assert from 'node:assert/strict';
import { launch, openPage } from './browser.mjs';
import { becomes, desktop, phone, WidgetPage } from './widget_page.mjs';
import { startWidgetServer } from './widget_server.mjs';

const question = 'How long do I have to send things back?';

let server;
let browser;
const defaults = {};
before(async () => {
  server = await startWidgetServer({ pace: 2 });
  Object.assign(defaults, structuredClone(server.state));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});
beforeEach(() => Object.assign(server.state, structuredClone(defaults), { beforeAnswer: undefined, beforeCut: undefined, beforeDone: undefined }));

/** Opens a page, runs the steps, and checks that no error occurred in the background. */
function on(path, name, options, steps, expected = /^$/) {
  test(name, async () => {
    const url = path === '/hostile' ? server.hostileUrl : server.url;
    const { page, troubles, close } = await openPage(browser, url + path, { reducedMotion: 'reduce', ...desktop, ...options });
    try {
      const widget = new WidgetPage(page);
      await steps(widget, page);
      assert.deepEqual(troubles.filter((trouble) => !expected.test(trouble) && !trouble.startsWith(`external request: ${server.url}/`)), []);
    } finally {
      await close();
    }
  });
}
const onShop = (...rest) => on('/demo/shop/', ...rest);

describe('an answer', () => {
  onShop('streams, cites by name, and is told to screen readers once', {}, async (widget) => {
    let finish;
    server.state.beforeDone = new Promise((resolve) => { finish = resolve; });
    await widget.open();
    await widget.say(question);
    await widget.find('.answer[data-status="streaming"] .cite').first().waitFor();
    await becomes(() => widget.log.getAttribute('aria-busy'), 'true');
    await becomes(() => widget.log.getAttribute('role'), 'log');
    assert.equal(await widget.status.textContent(), '');
    finish();
    assert.equal(await widget.settled(), 'done');
    await becomes(() => widget.log.getAttribute('aria-busy'), 'false');
    assert.match(await widget.status.textContent(), /^You have 60 days to send back what you do not like\. .* 2 sources\.$/);
    const cites = widget.find('a.cite');
    assert.deepEqual(await cites.allTextContents(), ['1', '1', '1', '2']);
    await becomes(() => cites.first().getAttribute('aria-label'), 'Source 1: Returns and refunds');
    await becomes(() => cites.first().getAttribute('href'), `${server.url}/demo/shop/returns.html`);
    const source = widget.find('a.source').first();
    assert.match(await source.textContent(), /Returns and refunds\/demo\/shop\/returns\.html/);
    assert.deepEqual([await source.getAttribute('data-start'), await source.getAttribute('data-end')], ['120', '188']);
    await becomes(() => source.getAttribute('title'), 'Characters 120 to 188 of the page');
    await becomes(() => widget.find('.prose strong').textContent(), '60 days');
  });

  onShop('is Markdown: lists, a table, code, a quote', {}, async (widget) => {
    await widget.open();
    assert.equal(await widget.ask('widget: long'), 'done');
    assert.deepEqual(await Promise.all(['ol', 'ul', 'table', 'pre', 'blockquote', 'hr', '.heading'].map((tag) => widget.find(`.prose ${tag}`).count())), [1, 1, 1, 1, 1, 1, 1]);
    await becomes(() => widget.find('td').first().textContent(), 'Patch on a tent or jacket');
    assert.equal(await widget.sidewaysScroll(), 0);
    assert.deepEqual(await widget.violations(), []);
  });

  onShop('never becomes markup, and leads nowhere but to the site and its sources', {}, async (widget, page) => {
    await widget.open();
    const probe = '<img src=x onerror="window.pwned=1">';
    await widget.ask(probe);
    await becomes(() => widget.find('.bubble').first().textContent(), probe);
    await widget.ask('widget: hostile');
    const last = widget.answers.last();
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await last.locator('img, script, iframe').count(), 0);
    const hrefs = await last.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    assert.deepEqual([...new Set(hrefs)], [`${server.url}/demo/shop/returns.html`]);
    assert.match(await last.locator('.prose').textContent(), /<img src=x.*pixel click prize \(https:\/\/evil\.example\/win\) https:\/\/evil\.example\/auto/s);
    assert.deepEqual(await last.locator('.source .title').allTextContents(), ['<b>Returns</b>', 'javascript:window.pwned=1', 'A file']);
    assert.equal(await last.locator('a.source').count(), 1, 'a source that is no page is no link');
  });

  onShop('says when it is uncertain, shortened, or not confirmed', {}, async (widget) => {
    await widget.open();
    await widget.ask('widget: uncertain');
    assert.match(await widget.answers.last().textContent(), /This answer was shortened\.I am not sure about this.*not confirmed by this source/s);
    const cite = widget.find('a.cite');
    assert.match(await cite.getAttribute('aria-label'), /^Source 1: A page elsewhere, not confirmed by this source$/);
    assert.deepEqual([await cite.getAttribute('target'), await cite.getAttribute('rel')], ['_blank', 'noopener noreferrer nofollow']);
    assert.deepEqual(await widget.violations(), []);
  });

  onShop('follows its end, but not against a reader', {}, async (widget) => {
    await widget.open();
    await widget.ask('widget: long');
    const gap = () => widget.log.evaluate((log) => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight));
    await becomes(gap, 0);
    await widget.log.evaluate((log) => { log.scrollTop = 0; });
    await widget.find('.latest').waitFor();
    await widget.find('.latest').click();
    await becomes(gap, 0);
    assert.equal(await widget.find('.latest').isVisible(), false);
  });
});

describe('a turn', () => {
  onShop('sends what is on the page, and nothing that was typed into it', {}, async (widget, page) => {
    await page.goto(`${server.url}/demo/shop/lantern-tent.html?utm=1#top`);
    await widget.open();
    await widget.ask('How heavy is it?');
    const [{ message, page_url: pageUrl, page_context: context }] = server.state.asked;
    assert.equal(message, 'How heavy is it?');
    assert.equal(pageUrl, `${server.url}/demo/shop/lantern-tent.html?utm=1`);
    assert.equal(context.title, 'Lantern 2 tent · Tarn & Thistle');
    assert.equal(context.description, 'A three-season tent for two people, 2.1 kg with pegs.');
    assert.deepEqual(context.h1, ['Lantern 2 tent']);
    assert.deepEqual(context.h2, ['In the wind and in the rain', 'In the box', 'Drying and storing']);
    assert.deepEqual(context.og, { type: 'product', site_name: 'Tarn & Thistle', 'price:amount': '389.00', 'price:currency': 'EUR', availability: 'in stock' });
    assert.equal(JSON.parse(context.json_ld).offers.price, '389.00');
    assert.match(context.visible_text, /^Lantern 2 tent\n€ 389\.00\n/);
    assert.match(context.visible_text, /stands a steady wind of 70 km\/h/);
    assert.doesNotMatch(context.visible_text, /Shipping\nReturns|invented shop|Ask a question/);
    assert.ok(Buffer.byteLength(JSON.stringify(context)) <= 8192);
  });

  onShop('leaves out navigation, hidden parts, fields and what the page asks to leave out', {}, async (widget, page) => {
    await page.evaluate(() => {
      const main = document.querySelector('main');
      const add = (tag, attributes, text = `secret-${tag}-${Object.keys(attributes)}`) => {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        if (tag !== 'script') element.append(text);
        main.append(element);
        return element;
      };
      for (const tag of ['nav', 'button', 'textarea', 'form', 'noscript', 'template', 'dialog', 'output']) add(tag, {});
      for (const [name, value] of [['hidden', ''], ['inert', ''], ['aria-hidden', 'true'], ['contenteditable', 'true'], ['role', 'textbox'], ['data-footnote-ignore', '']]) add('div', { [name]: value });
      for (const [name, value] of [['display', 'none'], ['visibility', 'hidden'], ['opacity', '0']]) add('p', {}, 'secret-style').style.setProperty(name, value);
      add('input', { value: 'secret-value' });
      add('p', {}, 'plain-to-see');
    });
    await widget.open();
    await widget.ask('What is it?');
    const sent = JSON.stringify(server.state.asked);
    assert.match(sent, /plain-to-see/);
    assert.doesNotMatch(sent, /secret-/);
  });

  onShop('is within 8,192 bytes on a page of any size', {}, async (widget, page) => {
    await page.evaluate(() => {
      for (let i = 0; i < 3000; i++) document.querySelector('main').append(Object.assign(document.createElement('p'), { textContent: `Zeile "${i}" ä👶` }));
    });
    await widget.open();
    await widget.ask(question);
    const size = Buffer.byteLength(JSON.stringify(server.state.asked[0].page_context));
    assert.ok(size <= 8192 && size > 8000, `${size}`);
  });

  onShop('is stopped by the button; then it can be asked again', {}, async (widget) => {
    await widget.open();
    await widget.say('widget: endless');
    await widget.find('.answer[data-status="streaming"]').waitFor();
    await becomes(() => widget.send.getAttribute('aria-label'), 'Stop');
    await widget.send.click();
    assert.equal(await widget.settled(), 'stopped');
    await becomes(() => server.state.stops.length, 1);
    assert.match(await widget.answers.last().textContent(), /word .*Stopped\. Try again/s);
    await widget.find('.text-button').click();
    await widget.find('.answer[data-status="streaming"]').waitFor();
    assert.equal(server.state.asked.length, 2);
    assert.equal(await widget.answers.count(), 1);
    await widget.send.click();
  });

  onShop('goes on after its connection broke, and says nothing twice', {}, async (widget) => {
    // A reset connection discards what the page has not read yet. Cut it only after the page shows text: before its first event the
    // widget does not know the turn and cannot resume it.
    let cut;
    server.state.beforeCut = new Promise((resolve) => { cut = resolve; });
    server.state.cutAfter = 9;
    server.state.resumeFails = 1;
    await widget.open();
    await widget.say(question);
    await widget.find('.answer[data-status="streaming"] .prose', { hasText: 'You' }).waitFor({ timeout: 30_000 });
    cut();
    assert.equal(await widget.settled(), 'done');
    // Data in transit may be lost with the connection: the widget requests everything after the last event that it has seen.
    const asked = server.state.resumes.map(({ last }) => Number(last));
    assert.equal(asked.length, 2);
    assert.equal(asked[0], asked[1]);
    assert.ok(asked[0] >= 1 && asked[0] <= 9, `asked for what follows ${asked[0]}`);
    assert.match(await widget.prose.textContent(), /^You have 60 days to send back what you do not like.?1\. It must not/);
  }, /ERR_|Failed to load/);

  onShop('is renewed silently when the token expired', {}, async (widget) => {
    await widget.open();
    await widget.ask(question);
    server.door.expireTokens();
    assert.equal(await widget.ask('And boots?'), 'done');
    assert.equal(server.state.inits.length, 2);
    assert.ok(server.state.inits[1].token);
    assert.equal(await widget.answers.count(), 2);
  }, /401/);

  onShop('fails in words, with a way on: quota, overload, a broken model', {}, async (widget) => {
    await widget.open();
    assert.equal(await widget.ask('widget: quota'), 'failed');
    assert.match(await widget.failure.textContent(), /^The limit of questions is reached\. Please try again in 5 minutes\.Try again$/);
    await becomes(() => widget.failure.getAttribute('role'), 'alert');
    assert.deepEqual(await widget.violations(), []);
    assert.equal(await widget.ask('widget: overloaded'), 'failed');
    assert.match(await widget.failure.last().textContent(), /Too many people are asking/);
    assert.equal(await widget.ask('widget: error'), 'failed');
    assert.match(await widget.answers.last().textContent(), /You have.*Something went wrong with this answer/s);
  }, /429|503/);

  onShop('is not sent while offline; the text stays', {}, async (widget, page) => {
    await widget.open();
    await page.context().setOffline(true);
    await widget.find('.banner svg').waitFor();
    assert.match(await widget.find('.banner').textContent(), /^You are offline/);
    await widget.say(question);
    assert.equal(await widget.answers.count(), 0);
    await becomes(() => widget.field.inputValue(), question);
    assert.deepEqual(await widget.violations(), []);
    await page.context().setOffline(false);
    await becomes(() => widget.find('.banner').textContent(), '');
    await widget.field.press('Enter');
    assert.equal(await widget.settled(), 'done');
  });

  onShop('is bounded: 4,000 characters go, more do not', {}, async (widget) => {
    await widget.open();
    await widget.say('ä'.repeat(4001));
    await becomes(() => widget.find('.left').textContent(), 'This is too long.');
    await becomes(() => widget.field.getAttribute('aria-invalid'), 'true');
    assert.equal(await widget.answers.count(), 0);
    await widget.field.fill('👶'.repeat(3999));
    await becomes(() => widget.find('.left').textContent(), '1 character left');
    assert.equal(await widget.ask('👶'.repeat(4000)), 'done');
  });

  onShop('can be judged, with a reason; a judgement that did not arrive is taken back', {}, async (widget) => {
    await widget.open();
    await widget.ask(question);
    const [up, down] = [widget.find('.thumb.up'), widget.find('.thumb.down')];
    await up.click();
    await becomes(() => server.state.feedback.length, 1);
    await becomes(() => up.getAttribute('aria-pressed'), 'true');
    await becomes(() => widget.find('.thanks').textContent(), 'Thank you.');
    await down.click();
    await widget.find('.reason textarea').fill('Too short');
    await widget.find('.small-button').click();
    await becomes(() => server.state.feedback.map(({ rating, reason }) => [rating, reason ?? '']), [['up', ''], ['down', ''], ['down', 'Too short']]);
    server.state.failFeedback = true;
    await up.click();
    await becomes(() => down.getAttribute('aria-pressed'), 'true');
    await becomes(() => up.getAttribute('aria-pressed'), 'false');
  }, /503/);
});

describe('a visit', () => {
  onShop('goes on with the next page, open as it was', {}, async (widget, page) => {
    await widget.open();
    await widget.ask(question);
    await widget.find('.thumb.up').click();
    await widget.field.fill('half a thought');
    await page.getByRole('link', { name: 'Sizes' }).click();
    await page.waitForURL('**/sizes.html');
    await widget.find('.answer').waitFor();
    assert.match(await widget.prose.textContent(), /60 days/);
    await becomes(() => widget.find('.thumb.up').getAttribute('aria-pressed'), 'true');
    await becomes(() => widget.field.inputValue(), 'half a thought');
    assert.equal(await widget.focused(), 'page', 'the page keeps the focus');
    assert.equal(await widget.status.textContent(), '', 'what was heard is not told again');
    assert.equal(server.state.inits.length, 2);
    assert.ok(server.state.inits[1].token);
  });

  onShop('takes an answer with it that is under way', {}, async (widget, page) => {
    let finish;
    server.state.beforeDone = new Promise((resolve) => { finish = resolve; });
    await widget.open();
    await widget.say(question);
    await widget.find('.answer[data-status="streaming"] .cite').first().waitFor();
    await page.goto(`${server.url}/demo/shop/sizes.html`);
    await widget.find('.answer[data-status="streaming"]').waitFor();
    finish();
    assert.equal(await widget.settled(), 'done');
    assert.match(await widget.prose.textContent(), /^You have 60 days/);
    await becomes(() => widget.find('.bubble').textContent(), question);
    assert.deepEqual(server.state.resumes.map(({ last }) => last), ['0']);
    assert.equal(server.state.asked.length, 1);
  });

  onShop('shows what was said before a question that was asked at once', {}, async (widget, page) => {
    await widget.open();
    await widget.ask(question);
    await widget.find('[aria-label="Close chat"]').first().click();
    server.state.slowInit = 300;
    await page.goto(`${server.url}/demo/shop/sizes.html`);
    await widget.open();
    await widget.say('And boots?');
    await widget.answers.nth(1).waitFor();
    assert.equal(await widget.settled(), 'done');
    assert.deepEqual(await widget.find('.bubble').allTextContents(), [question, 'And boots?']);
  });

  onShop('is told that an answer came while the panel was closed', {}, async (widget) => {
    let finish;
    server.state.beforeDone = new Promise((resolve) => { finish = resolve; });
    await widget.open();
    await widget.say(question);
    await widget.find('.answer[data-status="streaming"] .cite').first().waitFor();
    await widget.launcher.click();
    finish();
    await widget.find('.root[data-unread]').waitFor({ state: 'attached' });
    assert.match(await widget.status.textContent(), /^You have 60 days/);
    await widget.launcher.click();
    assert.equal(await widget.find('.root[data-unread]').count(), 0);
    assert.equal(await widget.settled(), 'done');
  });

  onShop('begins anew where the server knows the visitor no more', {}, async (widget, page) => {
    await widget.open();
    await widget.ask(question);
    server.state.forgetTokens = true;
    await page.reload();
    await widget.find('.greeting').waitFor();
    assert.equal(await widget.ask('And boots?'), 'done');
    assert.equal(await widget.answers.count(), 1);
  }, /401/);

  onShop('begins anew on demand', {}, async (widget) => {
    await widget.open();
    await widget.ask(question);
    await widget.find('[aria-label="Start over"]').click();
    await widget.find('.greeting').waitFor();
    assert.equal(await widget.answers.count(), 0);
    await becomes(() => server.state.inits.length, 2);
    assert.equal(server.state.inits[1].token, undefined);
  });

  onShop('asks the server once for several pages that are only read', {}, async (widget, page) => {
    await widget.launcher.waitFor();
    for (const name of ['Sizes', 'Returns', 'Gear']) {
      await page.getByRole('link', { name, exact: true }).click();
      await widget.launcher.waitFor();
    }
    assert.equal(server.state.inits.length, 1);
  });

  test('shows nothing where the agent is not for this page, and says so to the page', async () => {
    for (const fails of [[403, 'origin_forbidden'], [404, 'agent_not_found']]) {
      server.state.initFails = fails;
      const context = await browser.newContext(desktop);
      const page = await context.newPage();
      await page.addInitScript(() => window.addEventListener('footnote:error', (event) => { window.heard = event.detail.code; }));
      await page.goto(`${server.url}/demo/shop/`);
      await page.waitForFunction(() => window.heard !== undefined);
      assert.equal(await page.evaluate(() => window.heard), fails[1]);
      assert.equal(await page.locator('footnote-widget .launcher').isVisible(), false);
      await context.close();
    }
  });
});

describe('the page', () => {
  onShop('commands it, before and after it is there, and hears its events', {}, async (widget, page) => {
    await page.addInitScript(() => {
      window.heard = [];
      for (const name of ['ready', 'message', 'error']) window.addEventListener(`footnote:${name}`, ({ detail }) => window.heard.push([name, detail.role ?? detail.agent ?? detail.code]));
      window.footnote = window.footnote || [];
      window.footnote.push(['on', 'message', ({ text }) => { window.lastText = text; }], ['setLocale', 'de'], ['open'], ['nonsense'], 'nonsense');
    });
    await page.reload();
    await widget.panel.waitFor();
    await becomes(() => widget.field.getAttribute('placeholder'), 'Stellen Sie eine Frage');
    await becomes(() => widget.find('.root').getAttribute('lang'), 'de');
    await widget.ask(question);
    assert.deepEqual(await page.evaluate(() => window.heard), [['ready', 'agt_demo'], ['message', 'user'], ['message', 'assistant']]);
    assert.match(await page.evaluate(() => window.lastText), /^You have \*\*60 days\*\*/);
    await page.evaluate(() => window.footnote.close());
    assert.equal(await widget.panel.isVisible(), false);
    await page.evaluate(() => window.footnote.toggle());
    assert.equal(await widget.panel.isVisible(), true);
    await page.evaluate(() => window.footnote.push(['setLocale', 'fr'], ['reset']));
    await widget.find('.greeting').waitFor();
    await becomes(() => widget.find('.greeting').textContent(), 'Comment puis-je vous aider ?');
  });

  onShop('has one widget, however often the tag stands there', {}, async (widget, page) => {
    await page.route('**/demo/shop/sizes.html', async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      await route.fulfill({ response, body: html.replace(/<script[^>]*widget\.js[^>]*><\/script>/, '$&$&') });
    });
    await page.goto(`${server.url}/demo/shop/sizes.html`); // returns after the load event, which waits for both scripts
    assert.equal(await page.locator('script[src="/widget.js"]').count(), 2);
    await widget.launcher.waitFor();
    assert.equal(await page.locator('footnote-widget').count(), 1);
  });

  on('/hostile', 'can’t break it: styles, policy, Trusted Types, globals, shortcuts', {}, async (widget, page) => {
    await widget.launcher.waitFor();
    const box = await widget.launcher.boundingBox();
    assert.deepEqual([box.width, box.height], [56, 56]);
    await widget.open();
    const panel = await widget.panel.boundingBox();
    assert.equal(panel.width, 400);
    assert.ok(panel.x + panel.width <= 1440 && panel.y >= 0);
    await widget.field.click();
    await page.keyboard.type('hi there');
    assert.equal(await widget.field.inputValue(), 'hi there', 'the page’s shortcuts do not take its keys');
    assert.deepEqual(await page.evaluate(() => window.keysSeen), []);
    assert.equal(await widget.ask(question), 'done');
    const look = (selector) => widget.find(selector).first().evaluate((element) => {
      const style = getComputedStyle(element);
      return [style.fontSize, style.color, style.opacity, style.visibility, style.direction, style.textTransform, style.filter];
    });
    assert.deepEqual(await look('.prose p'), ['15px', 'rgb(25, 28, 34)', '1', 'visible', 'ltr', 'none', 'none']);
    assert.equal(await widget.find('.prose p').first().evaluate((element) => getComputedStyle(element, '::before').content), 'none');
    const host = await page.locator('footnote-widget').evaluate((element) => { const style = getComputedStyle(element); return [style.opacity, style.transform, style.display, style.filter]; });
    assert.deepEqual(host, ['1', 'none', 'block', 'none']);
    await page.evaluate(() => { delete window.define; delete Object.prototype.hostileExtra; }); // axe-core itself would fail because of them
    assert.deepEqual(await widget.violations('footnote-widget'), []);
    await page.keyboard.press('Escape');
    assert.equal(await widget.panel.isVisible(), false);
  });
});

describe('everybody', () => {
  for (const [name, options] of [
    ['1440 light', desktop], ['1440 dark', { ...desktop, colorScheme: 'dark' }], ['390 light', phone], ['390 dark', { ...phone, colorScheme: 'dark' }],
  ]) {
    onShop(`can use it: ${name}, axe-core finds nothing`, options, async (widget) => {
      await widget.launcher.waitFor();
      assert.deepEqual(await widget.violations(), []);
      await widget.open();
      assert.deepEqual(await widget.violations(), []);
      await widget.ask(question);
      assert.deepEqual(await widget.violations(), []);
      assert.equal(await widget.sidewaysScroll(), 0);
      const small = await widget.panel.evaluate((panel) => [...panel.querySelectorAll('button, a.source, textarea')]
        .map((element) => [element.className || element.id, element.getBoundingClientRect()])
        .filter(([, { width, height }]) => width > 0 && (width < 24 || height < 24)).map(([label]) => label));
      assert.deepEqual(small, [], 'targets of at least 24 px');
    });
  }

  onShop('can use it by keyboard alone', {}, async (widget, page) => {
    await widget.launcher.waitFor();
    await widget.tabTo('.launcher');
    await becomes(() => widget.launcher.getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('Enter');
    await widget.panel.waitFor();
    assert.equal(await widget.focused(), '#question');
    await becomes(() => widget.launcher.getAttribute('aria-expanded'), 'true');
    await becomes(() => widget.panel.getAttribute('role'), 'dialog');
    await widget.tabTo('.starter', 'Shift+Tab');
    await page.keyboard.press('Enter');
    assert.equal(await widget.settled(), 'done');
    assert.equal(await widget.focused(), '#question');
    await page.keyboard.type('Zwei\nZeilen');
    await page.keyboard.press('Shift+Enter');
    assert.equal(await widget.answers.count(), 2, 'Enter sends');
    assert.equal(await widget.settled(), 'done');
    assert.equal(await widget.field.inputValue(), 'Zeilen\n', 'with Shift it is a new line');
    await widget.tabTo('.thumb', 'Shift+Tab');
    await page.keyboard.press('Space');
    await becomes(() => server.state.feedback.length, 1);
    assert.equal(await widget.focused(), '.thumb', 'the focus stays where it was');
    await widget.tabTo('.source', 'Shift+Tab');
    await widget.tabTo('.cite', 'Shift+Tab');
    await widget.tabTo('.log', 'Shift+Tab');
    await page.keyboard.press('Escape');
    assert.equal(await widget.panel.isVisible(), false);
    assert.equal(await widget.focused(), '.launcher');
  });

  onShop('can use it on a phone: a sheet that keeps the focus, and gives it back', phone, async (widget, page) => {
    await widget.launcher.tap();
    await widget.panel.waitFor();
    assert.deepEqual(await widget.panel.boundingBox(), { x: 0, y: 0, width: 390, height: 844 });
    await becomes(() => widget.panel.getAttribute('aria-modal'), 'true');
    assert.equal(await widget.focused(), '#title', 'no keyboard over the text');
    assert.equal(await widget.launcher.isVisible(), false);
    await widget.ask(question);
    for (let i = 0; i < 25; i++) {
      await page.keyboard.press('Tab');
      assert.notEqual(await widget.focused(), 'page');
    }
    await widget.find('a.source').first().tap();
    await page.waitForURL('**/returns.html');
    await widget.launcher.waitFor();
    assert.equal(await widget.panel.isVisible(), false, 'the page that was asked for is not covered');
  });

  for (const [width, height] of [[320, 568], [640, 360], [320, 256]]) {
    onShop(`can use it in a window of ${width} x ${height}`, { viewport: { width, height } }, async (widget) => {
      await widget.open();
      await widget.ask('widget: long');
      assert.equal(await widget.sidewaysScroll(), 0);
      assert.ok((await widget.log.boundingBox()).height > 60, 'there is room to read');
      const field = await widget.field.boundingBox();
      assert.ok(field.y + field.height <= height);
    });
  }

  onShop('can read it from right to left', { locale: 'ar-EG' }, async (widget, page) => {
    await page.evaluate(() => window.footnote.setLocale('ar-EG'));
    await widget.open();
    await becomes(() => widget.find('.root').getAttribute('dir'), 'rtl');
    await widget.ask('widget: arabic');
    assert.equal(await widget.prose.evaluate((element) => getComputedStyle(element).direction), 'rtl');
    const [avatar, close] = [await widget.find('.avatar').boundingBox(), await widget.find('[aria-label="أغلق المحادثة"]').first().boundingBox()];
    assert.ok(avatar.x > close.x);
    assert.match(await widget.status.textContent(), /مصدر واحد\.$/);
    assert.deepEqual(await widget.violations('footnote-widget'), []);
  });

  onShop('sees no motion who wants none', {}, async (widget) => {
    await widget.open();
    await widget.say('widget: endless');
    await widget.find('.answer[data-status="streaming"]').waitFor();
    const moving = await widget.find('.root').evaluate((root) => root.getAnimations({ subtree: true }).length);
    assert.equal(moving, 0);
    await widget.send.click();
  });

  onShop('sees the site’s colours, on its side, as far as they can be read', {}, async (widget, page) => {
    server.state.agent.theme = { accent: '#ffd400', accent_text: '#ffffff', position: 'left', title: '', logo_url: '/demo/shop/mark.svg' };
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await widget.open();
    assert.ok((await widget.panel.boundingBox()).x < 40);
    assert.equal(await widget.find('.avatar img').evaluate((image) => image.complete && image.naturalWidth > 0), true);
    await becomes(() => widget.find('h2').textContent(), 'Thistle');
    await widget.ask(question);
    assert.deepEqual(await widget.violations(), []);
  });
});
