// Chromium for the tests, and a page that records all errors.

import { chromium } from 'playwright-core';

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});

/** Opens `url`. `troubles` collects console errors, page errors, CSP violations and requests to other origins. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const troubles = [];
  const origin = new URL(url).origin;
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => troubles.push(`page error: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) troubles.push(`external request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(url);
  return { page, troubles, close: () => context.close() };
}

export async function ask(page, question) {
  await page.fill('#question', question);
  await page.press('#question', 'Enter');
}

/** Waits until the displayed turn has ended; returns its status. */
export async function settled(page, timeout = 30_000) {
  await page.waitForSelector('#answer[aria-busy="false"] .turn:not([data-status="streaming"])', { timeout });
  return page.getAttribute('#answer .turn', 'data-status');
}

/** The highlighted text of the open source, with white space collapsed. */
export async function highlighted(page) {
  await page.waitForSelector('#panel-text mark.active');
  const parts = await page.locator('#panel-text mark.active').allTextContents();
  return parts.join(' ').replace(/\s+/g, ' ').trim();
}

export const activeSelector = (page) => page.evaluate(() => {
  const { activeElement: element } = document;
  return element.id ? `#${element.id}` : `.${[...element.classList].join('.')}`;
});

export const sidewaysScroll = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
