// What a screen reader announces at each step of a visit, from the browser's accessibility tree, compared with the table in docs/widget.md.
// Run: node --test tests/browser/widget_reader_test.mjs; FOOTNOTE_UPDATE=1 rewrites the table.

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { launch, openPage } from './browser.mjs';
import { becomes, desktop, phone, WidgetPage } from './widget_page.mjs';
import { startWidgetServer } from './widget_server.mjs';

const docs = new URL('../../docs/widget.md', import.meta.url);
const mark = '<!-- screen reader -->';
const question = 'How long do I have to send things back?';
const told = ['expanded', 'pressed', 'invalid', 'modal', 'busy', 'disabled', 'multiline'];
const roles = { textbox: 'edit', RootWebArea: 'page' };

let server;
let browser;
before(async () => {
  server = await startWidgetServer({ pace: 2 });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** The name, role and state of an element of the accessibility tree, in a screen reader's words. */
function words(node) {
  const states = Object.fromEntries((node.properties ?? []).map(({ name, value }) => [name, value.value]));
  const state = told.flatMap((name) => {
    const value = states[name];
    if (name === 'expanded' && value !== undefined) return value ? ['expanded'] : ['collapsed'];
    if (name === 'pressed' && value !== undefined) return String(value) === 'true' ? ['pressed'] : ['not pressed'];
    if (name === 'disabled' && value) return ['unavailable'];
    return value === true || value === 1 || value === 'true' ? [name === 'multiline' ? 'multi-line' : name] : [];
  });
  const role = node.role?.value;
  const name = node.name?.value;
  const description = node.description?.value;  // A title that says the same as the name is not read twice.
  return [name, roles[role] ?? role, ...state, description === name ? '' : description].filter(Boolean).join(', ');
}

class Reader {
  constructor(page, session) {
    this.page = page;
    this.session = session;
    this.rows = [];
    this.spoken = [];
  }

  static async on(page) {
    const session = await page.context().newCDPSession(page);
    await session.send('Accessibility.enable');
    const reader = new Reader(page, session);
    // Text in a live region is announced when it is inserted; a later check would miss replaced text.
    await page.exposeFunction('footnoteSpoken', (text) => reader.spoken.push(text));
    await page.evaluate(() => {
      const root = document.querySelector('footnote-widget').shadowRoot;
      const speak = (region) => {
        const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
        const parts = [];
        while (walker.nextNode()) parts.push(walker.currentNode.data.trim());
        if (parts.join('')) window.footnoteSpoken(parts.filter(Boolean).join(' '));
      };
      new MutationObserver((records) => {
        for (const region of new Set(records.map(({ target }) => (target.nodeType === 1 ? target : target.parentElement)?.closest('[role=status], [role=alert]')))) {
          if (region) speak(region);
        }
        for (const added of records.flatMap(({ addedNodes }) => [...addedNodes])) {
          const alerts = added.nodeType === 1 ? [added, ...added.querySelectorAll('*')].filter((element) => element.getAttribute('role') === 'alert') : [];
          alerts.forEach(speak);
        }
      }).observe(root, { subtree: true, childList: true, characterData: true });
    });
    return reader;
  }

  async nodes() {
    return (await this.session.send('Accessibility.getFullAXTree')).nodes;
  }

  /** The focused element with its landmarks and dialogs, outermost first. */
  async focused() {
    const nodes = await this.nodes();
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const isFocused = ({ properties, role }) => role?.value !== 'RootWebArea' && properties?.some(({ name, value }) => name === 'focused' && value.value);
    const path = [];
    for (let node = nodes.find(isFocused); node; node = byId.get(node.parentId)) path.unshift(node);
    const around = path.slice(0, -1).filter(({ ignored, role }) => !ignored && ['region', 'dialog', 'log'].includes(role?.value));
    return [...around, ...path.slice(-1)].map(words).join('; ');
  }

  async note(step, said) {
    this.rows.push([step, said]);
  }

  async noteFocus(step) {
    await this.note(step, await this.focused());
  }

  /** The last announcement of live regions since the previous call. */
  async heard(step) {
    await becomes(() => this.spoken.length > 0, true);
    await this.note(step, this.spoken.splice(0).at(-1));
  }
}

const table = (rows) => ['| step | what is said |', '|---|---|', ...rows.map(([step, said]) => `| ${step} | ${said.replaceAll('|', '\\|')} |`)].join('\n');

test('a visit by ear is as the documentation tells it', async () => {
  const { page, close } = await openPage(browser, `${server.url}/demo/shop/`, { reducedMotion: 'reduce', ...desktop });
  try {
    const widget = new WidgetPage(page);
    await widget.launcher.waitFor();
    const reader = await Reader.on(page);
    await widget.tabTo('.launcher');
    await reader.noteFocus('Tab to the launcher');
    await page.keyboard.press('Enter');
    await widget.panel.waitFor();
    await becomes(() => widget.focused(), '#question');
    await reader.noteFocus('Enter: the panel opens');
    let finish;
    server.state.beforeDone = new Promise((resolve) => { finish = resolve; });
    reader.spoken.splice(0);
    await widget.say(question);
    await widget.find('.answer[data-status="streaming"] .cite').first().waitFor();
    await reader.noteFocus('a question is sent; the answer comes');
    const log = (await reader.nodes()).find(({ role }) => role?.value === 'log');
    await reader.note('the log meanwhile', words(log));
    assert.deepEqual(reader.spoken, [], 'nothing is spoken piece by piece');
    finish();
    server.state.beforeDone = undefined;
    await widget.settled();
    await reader.heard('the answer is there');
    await widget.tabTo('.cite', 'Shift+Tab');
    await reader.noteFocus('Shift+Tab to a citation');
    await widget.tabTo('.source');
    await reader.noteFocus('Tab to the list of sources');
    await widget.tabTo('.thumb');
    await reader.noteFocus('Tab to the judgement');
    await page.keyboard.press('Enter');
    await becomes(() => widget.find('.thumb.up').getAttribute('aria-pressed'), 'true');
    await reader.noteFocus('Enter: it helped');
    reader.spoken.splice(0);
    server.state.status = undefined;
    await widget.field.focus();
    await widget.say('widget: error');
    await widget.failure.waitFor();
    await reader.heard('an answer that fails');
    await page.keyboard.press('Escape');
    await becomes(() => widget.focused(), '.launcher');
    await reader.noteFocus('Esc: the panel closes');
    const text = await readFile(docs, 'utf8');
    const [head, , tail] = text.split(mark);
    const wanted = `${head}${mark}\n${table(reader.rows)}\n${mark}${tail}`;
    if (process.env.FOOTNOTE_UPDATE) await writeFile(docs, wanted);
    else assert.equal(text, wanted);
  } finally {
    await close();
  }
});

test('on a phone the panel is a modal dialog', async () => {
  const { page, close } = await openPage(browser, `${server.url}/demo/shop/`, { reducedMotion: 'reduce', ...phone });
  try {
    const widget = new WidgetPage(page);
    await widget.open();
    const reader = await Reader.on(page);
    const dialog = (await reader.nodes()).find(({ role }) => role?.value === 'dialog');
    assert.match(words(dialog), /, dialog, modal$/);
  } finally {
    await close();
  }
});
