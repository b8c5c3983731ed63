// Makes docs/images/first-page.png (1280 x 800, light) from a running server: an answer with its source open.
// Run: FOOTNOTE_URL=http://127.0.0.1:7700 node tests/browser/screenshot.mjs ["a question"]
// SCREENSHOT_DIR writes elsewhere, and then the dark, phone, refusal and start variants too.

import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ask, highlighted, launch, openPage, settled } from './browser.mjs';

const url = process.env.FOOTNOTE_URL ?? 'http://127.0.0.1:7700';
const question = process.argv[2] ?? 'How many vacation days do I get if I work full time in Utrecht?';
const elsewhere = process.env.SCREENSHOT_DIR;
const folder = elsewhere ?? fileURLToPath(new URL('../../docs/images', import.meta.url));

const browser = await launch();

async function shoot(name, options, steps) {
  const { page, troubles, close } = await openPage(browser, url, { reducedMotion: 'reduce', ...options });
  await page.waitForSelector('#corpus-line:not(:empty)');
  await steps(page);
  await page.mouse.move(0, 0);
  const file = `${folder}/${name}.png`;
  await page.screenshot({ path: file, caret: 'hide' });
  await close();
  if (troubles.length > 0) throw new Error(`${name}: ${troubles.join('; ')}`);
  console.log(file);
}

async function answerWithSource(page) {
  await ask(page, question);
  const status = await settled(page);
  if (status !== 'done') throw new Error(`“${question}” ended as ${status}: choose a question that is answered`);
  await page.locator('.cite').first().click();
  await highlighted(page);
}

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, deviceScaleFactor: 2 };
try {
  await mkdir(folder, { recursive: true });
  await shoot('first-page', {}, answerWithSource);
  if (elsewhere) {
    await shoot('first-page-dark', { colorScheme: 'dark' }, answerWithSource);
    await shoot('first-page-phone', phone, answerWithSource);
    await shoot('start', {}, async () => {});
    await shoot('start-phone-dark', { ...phone, colorScheme: 'dark' }, async () => {});
    await shoot('refusal', {}, async (page) => {
      await ask(page, 'What is the capital of Australia?');
      await settled(page);
    });
  }
} finally {
  await browser.close();
}
