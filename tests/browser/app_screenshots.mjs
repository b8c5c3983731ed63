// Makes docs/images/app-*.png from a running server with examples/handbook.
// Run: FOOTNOTE_URL=http://127.0.0.1:7700 node tests/browser/app_screenshots.mjs

import { fileURLToPath } from 'node:url';
import { ask, desktop, highlighted, phone, withApp } from './app_page.mjs';
import { launch } from './browser.mjs';

const url = process.env.FOOTNOTE_URL ?? 'http://127.0.0.1:7700';
const folder = fileURLToPath(new URL('../../docs/images', import.meta.url));
const browser = await launch();

async function shoot(name, options, steps, path = '/app/chat') {
  await withApp(browser, `${url}${path}`, options, async (page) => {
    await steps(page);
    await page.screenshot({ path: `${folder}/app-${name}.png`, caret: 'hide' });
    console.log(`app-${name}.png`);
  });
}

const small = { viewport: { width: 1280, height: 800 } };
const carryOver = 'How many days of unused leave can I carry over into next year?';
try {
  await shoot('welcome', small, (page) => page.locator('.example').first().waitFor());
  await shoot('answer', small, async (page) => {
    await ask(page, carryOver);
    await page.locator('.quotation .cite').first().click();
    await highlighted(page);
  });
  await shoot('table', { ...desktop, colorScheme: 'dark' }, async (page) => {
    await ask(page, 'What equipment do I get for working at home?');
    await page.locator('.quotation .cite').nth(1).click();
    await highlighted(page);
  });
  await shoot('refusal', small, (page) => ask(page, 'What is the melting point of tungsten carbide in kelvin?'));
  await shoot('search', small, async (page) => {
    await page.getByLabel('Search for').fill('carrying leave over');
    await page.locator('.hit').first().waitFor();
  }, '/app/search');
  await shoot('phone', { ...phone, deviceScaleFactor: 2 }, (page) => ask(page, carryOver));
  await shoot('phone-source', { ...phone, deviceScaleFactor: 2, colorScheme: 'dark' }, async (page) => {
    await ask(page, carryOver);
    await page.locator('.quotation .cite').first().tap();
    await highlighted(page);
  });
} finally {
  await browser.close();
}
