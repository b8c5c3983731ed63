// Helpers for tests of the widget on a page.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const desktop = { viewport: { width: 1440, height: 900 } };
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const patience = 30_000;

/** The parts of the widget that tests use. Locators reach into the shadow root. */
export class WidgetPage {
  constructor(page) {
    this.page = page;
    const widget = page.locator('footnote-widget');
    const find = (selector, options) => widget.locator(selector, options);
    Object.assign(this, {
      find, launcher: find('.launcher'), panel: find('#panel'), field: find('#question'), send: find('.send'), log: find('.log'),
      answers: find('.answer'), prose: find('.answer .prose'), failure: find('.failure'), status: find('.root > [role=status]'),
    });
  }

  async open() {
    await this.launcher.click();
    await this.panel.waitFor();
  }

  async say(text) {
    await this.field.fill(text);
    await this.field.press('Enter');
  }

  /** Asks and waits for the end of the answer; returns its status. */
  async ask(text) {
    const before = await this.answers.count();
    await this.say(text);
    await this.answers.nth(before).waitFor({ timeout: patience });
    return this.settled();
  }

  async settled() {
    await this.find('.log[aria-busy="false"] .answer:last-child:not([data-status="waiting"]):not([data-status="streaming"])').waitFor({ timeout: patience });
    return this.answers.last().getAttribute('data-status');
  }

  /** The element inside the widget that has the focus: "#id" or its class; "page" when it is outside. */
  focused() {
    return this.page.evaluate(() => {
      const root = document.querySelector('footnote-widget')?.shadowRoot;
      const element = root?.activeElement;
      if (!element) return 'page';
      return element.id ? `#${element.id}` : `.${element.classList[0] ?? element.tagName.toLowerCase()}`;
    });
  }

  /** Presses Tab until that element has the focus. */
  async tabTo(selector, key = 'Tab') {
    for (let i = 0; i < 60; i++) {
      if ((await this.focused()) === selector) return;
      await this.page.keyboard.press(key);
    }
    assert.fail(`${key} does not lead to ${selector}; the focus is on ${await this.focused()}`);
  }

  sidewaysScroll() {
    return this.page.evaluate(() => {
      const panel = document.querySelector('footnote-widget').shadowRoot.querySelector('.log');
      return document.documentElement.scrollWidth - document.documentElement.clientWidth + (panel.scrollWidth - panel.clientWidth);
    });
  }

  /** The problems that axe-core finds; `within` limits the search to one element. */
  async violations(within) {
    await this.page.evaluate(axeSource);
    const found = await this.page.evaluate(async (selector) => {
      const { violations } = await globalThis.axe.run(selector ?? document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html} ${any?.[0]?.message ?? ''}`).join(' | ')}`);
    }, within);
    return found;
  }
}

/** Waits until a value is as expected: the page's actions reach the server with a delay. */
export async function becomes(value, expected) {
  for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(10)) {
    if (JSON.stringify(await value()) === JSON.stringify(expected)) return;
  }
  assert.deepEqual(await value(), expected);
}
