// Tests the start page with the fixture server: streaming, failures, keyboard, phone, accessibility. No C++ needed.
// Run: node --test tests/browser/page_fixture_test.mjs

import test, { after, before, describe } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFixture, longLeave } from './fixture_server.mjs';
import { activeSelector, ask, highlighted, launch, openPage, settled, sidewaysScroll } from './browser.mjs';

const question = 'How long is parental leave, and is it paid?';
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };
const folded = (text) => text.replace(/\s+/g, ' ');
const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let fixture;
let browser;
before(async () => {
  fixture = await startFixture({ pace: 2 });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await fixture?.close();
});

/** Opens the page, runs the steps, and checks that no error occurred in the background. */
function onPage(name, options, steps, expectedTroubles = /^$/) {
  test(name, async () => {
    const { page, troubles, close } = await openPage(browser, fixture.url, options);
    try {
      await steps(page);
      assert.deepEqual(troubles.filter((trouble) => !expectedTroubles.test(trouble)), []);
    } finally {
      await close();
    }
  });
}

/** Waits until the fixture server has received the page's requests and closes. */
async function becomes(count, expected) {
  for (const deadline = Date.now() + 30_000; count() < expected && Date.now() < deadline;) await sleep(10);
  assert.equal(count(), expected);
}

async function violations(page) {
  await page.evaluate(axeSource);
  const { violations: found } = await page.evaluate(() => globalThis.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

describe('an answer', () => {
  onPage('streams, cites, and is told to screen readers once', {}, async (page) => {
    assert.equal(await activeSelector(page), '#question');
    let finish;
    fixture.state.beforeFinish = new Promise((resolve) => { finish = resolve; });
    try {
      await ask(page, question);
      await page.waitForSelector('#answer[aria-busy="true"] .prose .cite');
      assert.equal(await page.textContent('#announcer'), '');
    } finally {
      finish();
      fixture.state.beforeFinish = undefined;
    }
    assert.equal(await settled(page), 'done');
    assert.match(await page.textContent('#announcer'), /^Answer: Every parent may take 26 weeks.*2 sources\. High confidence\.$/s);
    assert.deepEqual(await page.locator('.cite').allTextContents(), ['1', '1', '2']);
    assert.equal(await page.locator('.cite').first().getAttribute('aria-label'), 'Source 1: Parental leave, time-off/parental-leave.md');
    assert.equal(await page.locator('.notes > ol > li').count(), 2);
    assert.match(await page.textContent('.notes'), /How long it is.*time-off\/parental-leave\.md.*1 passage read but not cited/s);
    assert.equal(await page.getAttribute('[role=meter]', 'aria-valuetext'), 'high, 91 of 100');
  });

  onPage('opens the cited sentence, past emoji', {}, async (page) => {
    await ask(page, question);
    await settled(page);
    await page.locator('.cite').first().click();
    assert.equal(await highlighted(page), folded(longLeave));
    assert.equal(await page.textContent('#panel-title'), 'Parental leave');
    const box = await page.locator('mark.active').first().boundingBox();
    assert.ok(box.y > 100 && box.y < 780, 'the sentence is in view');
    await page.locator('.cite').nth(1).click();
    assert.match(await highlighted(page), /^The first nine weeks .* unpaid\.$/);
    const lit = await page.evaluate(() => [...CSS.highlights.get('cited')].map(String).join(''));
    assert.match(lit, /^The first nine weeks .* unpaid\.$/, 'the sentence of the answer is lit as well');
    assert.match(await page.textContent('#panel-note'), /Passage 2 of 2/);
    await page.click('#panel-next');
    assert.equal(await highlighted(page), folded(longLeave));
  });

  onPage('shows a document whole and exact', {}, async (page) => {
    await ask(page, question);
    await settled(page);
    await page.locator('.note').nth(1).click();
    assert.equal(await highlighted(page), 'Holiday allowance is built up during paid weeks of parental leave only.');
    const shown = folded((await page.locator('.doc > *').allTextContents()).join(' '));
    assert.match(shown, /^Payroll and payslips Salaries are paid on the 25th.*from 20 January\.$/);
  });

  onPage('survives any slicing, CRLF, comments and a byte-order mark', {}, async (page) => {
    await ask(page, 'fixture: sliced');
    assert.equal(await settled(page), 'done');
    assert.equal(await page.textContent('.prose'), 'Olá 👶🏽, “nine weeks” — 26 × ✓ 日本語.1 ');
  });

  onPage('never becomes markup', {}, async (page) => {
    const probe = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
    await ask(page, probe);
    await settled(page);
    assert.equal(await page.textContent('.turn-question'), probe);
    await ask(page, 'fixture: markup');
    await settled(page);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.locator('#answer a, #answer img, #answer script').count(), 0);
    assert.match(await page.textContent('.prose'), /<img src=x.*a link and a page \(https:\/\/evil\.example\/x\), bold and code \[1\]\./s);
    assert.equal(await page.locator('.prose li').count(), 2);
    assert.match(await page.textContent('.prose'), /two \[9\]/, 'a number without a source stays text');
    assert.equal(await page.locator('.cite').count(), 1);
  });

  onPage('marks a citation that does not hold', {}, async (page) => {
    await ask(page, 'fixture: unsupported');
    await settled(page);
    assert.match(await page.locator('.cite').getAttribute('aria-label'), /not confirmed by this source/);
    assert.match(await page.textContent('.confidence'), /Low confidence/);
    await page.locator('.cite').click();
    await highlighted(page);
    assert.match(await page.textContent('#panel-note'), /does not support the claim/);
  });

  const doubted = (page) => page.evaluate(() => [...(CSS.highlights.get('doubtful') ?? [])].map(String).join(''));

  onPage('marks sentences that no source carries, and says which', {}, async (page) => {
    await ask(page, 'fixture: doubts');
    await settled(page);
    const marked = await doubted(page);
    assert.match(marked, /^Everybody has 40 days of leave 👶 from the first day on\..*Managers may grant/s);
    assert.doesNotMatch(marked, /27 days/);
    assert.match(await page.textContent('.doubts summary'), /2 sentences not confirmed/);
    await page.locator('.doubts summary').click();
    assert.deepEqual(await page.locator('.doubts li').allInnerTexts().then((all) => all.map(folded)), [
      'Everybody has 40 days of leave 👶 from the first day on. — its source does not confirm it',
      'Managers may grant more of it whenever they like. — names no source',
    ].map((line) => line.replace(' — ', '')));
    assert.match(await page.textContent('#announcer'), /2 sentences are not confirmed by a source/);
    await ask(page, question);
    await settled(page);
    assert.equal(await doubted(page), '', 'they are marks of that answer alone');
    await page.locator('.earlier').first().click();
    await page.waitForFunction(() => CSS.highlights.get('doubtful')?.size > 0);
  });

  onPage('replaces a text that was no answer', {}, async (page) => {
    await ask(page, 'fixture: replaced');
    await settled(page);
    const shown = await page.textContent('.turn .prose');
    assert.doesNotMatch(shown, /The answer is|Withdrawn/);
    assert.match(shown, /26 weeks/);
    assert.match(await page.textContent('.replaced'), /withdrawn/);
    assert.equal(await doubted(page), '', 'nothing of the withdrawn text is marked');
    assert.equal(await page.locator('.doubts').count(), 0);
  });

  onPage('gives a sentence the source that the check found for it', {}, async (page) => {
    await ask(page, 'fixture: bound');
    await settled(page);
    assert.equal(await page.locator('.turn .cite').count(), 2);
  });

  onPage('says when it cites nothing', {}, async (page) => {
    await ask(page, 'fixture: uncited');
    await settled(page);
    assert.match(await page.textContent('.meta'), /No source is cited/);
  });

  onPage('finds a quote whose offsets are off', {}, async (page) => {
    await ask(page, 'fixture: moved');
    await settled(page);
    await page.locator('.cite').first().click();
    assert.equal(await highlighted(page), folded(longLeave));
  });

  onPage('keeps its number on the line of its word', phone, async (page) => {
    await ask(page, question);
    await settled(page);
    for (let width = 320; width < 420; width += 3) {
      await page.setViewportSize({ width, height: 740 });
      const apart = await page.evaluate(() => [...document.querySelectorAll('.cite')].filter((cite) => {
        const word = new Range();
        word.selectNodeContents(cite.parentNode.firstChild);
        return Math.abs(word.getBoundingClientRect().bottom - cite.getBoundingClientRect().bottom) > 25;
      }).length);
      assert.equal(apart, 0, `at ${width} px`);
    }
  });
});

describe('a refusal', () => {
  onPage('looks like one, and offers what came nearest', {}, async (page) => {
    await ask(page, 'fixture: refusal');
    assert.equal(await settled(page), 'refused');
    assert.equal(await page.textContent('.refusal h3'), 'Not in these documents');
    assert.equal(await page.locator('.cite').count(), 0);
    assert.equal(await page.locator('[role=meter]').count(), 0);
    assert.match(await page.textContent('#announcer'), /^Not in these documents\. The documents that were read/);
    assert.equal(await page.locator('.near').count(), 2);
    await page.locator('.near').first().click();
    await page.waitForSelector('mark.near');
    assert.match((await page.locator('mark.near').allTextContents()).join(' '), /The office is open from 7:30/, 'the passage that was read is shown');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Reword the question' }).click();
    assert.equal(await page.inputValue('#question'), 'fixture: refusal');
  });
});

describe('failures', () => {
  const expected = /status of (?:503|422|500|404)|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_REFUSED/;
  const cases = {
    'fixture: status 503': /The model is still loading\. Try again in 7 seconds\./,
    'fixture: status 422': /question: is <b>too<\/b> odd/,
    'fixture: status 500 bare': /The server answered with status 500\./,
    'fixture: error chunk': /The model went away\./,
    'fixture: not json': /cannot read/,
    'fixture: ended early': /cut off before its end/,
    'fixture: cut': /connection was lost/,
    'fixture: nothing said': /finished without an answer/,
  };
  for (const [name, message] of Object.entries(cases)) {
    onPage(`${name}: an alert and a second try`, {}, async (page) => {
      await ask(page, name);
      assert.equal(await settled(page), 'failed');
      assert.match(await page.textContent('[role=alert]'), message);
      const before = fixture.state.asked.length;
      await page.getByRole('button', { name: 'Try again' }).click();
      await becomes(() => fixture.state.asked.length, before + 1);
      assert.equal(await settled(page), 'failed');
      assert.equal(fixture.state.asked.length, before + 1);
      assert.equal(await page.locator('.earlier').count(), 0, 'the second try takes the place of the first');
    }, expected);
  }

  onPage('an unreachable server', {}, async (page) => {
    await page.route('**/api/kb/chat/stream', (route) => route.abort('connectionrefused'));
    await ask(page, question);
    assert.equal(await settled(page), 'failed');
    assert.match(await page.textContent('[role=alert]'), /could not be reached.*footnote serve/);
    await page.unroute('**/api/kb/chat/stream');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForSelector('.prose .cite');
    assert.equal(await settled(page), 'done');
  }, expected);

  onPage('a source that cannot be read', {}, async (page) => {
    await ask(page, 'fixture: broken source');
    await settled(page);
    await page.locator('.cite').first().click();
    await page.waitForSelector('#panel [role=alert]');
    assert.match(await page.textContent('#panel [role=alert]'), /There is no such document/);
    await page.keyboard.press('Escape');
    assert.equal(await activeSelector(page), '.cite');
  }, expected);
});

describe('stopping', () => {
  onPage('Stop keeps what was written and closes the stream', {}, async (page) => {
    const before = fixture.state.aborted;
    await ask(page, 'fixture: slow');
    await page.waitForFunction(() => /word5/.test(document.querySelector('.prose')?.textContent));
    await page.click('#stop');
    assert.equal(await settled(page), 'stopped');
    assert.match(await page.textContent('.prose'), /^word1 word2/);
    assert.match(await page.textContent('.notice'), /Stopped here/);
    assert.equal(await page.isVisible('#stop'), false);
    assert.equal(await activeSelector(page), '#question');
    await becomes(() => fixture.state.aborted, before + 1);
  });

  onPage('asking again cancels the former, which stays in the history', {}, async (page) => {
    const before = fixture.state.aborted;
    await ask(page, 'fixture: slow');
    await page.waitForSelector('.prose p');
    await ask(page, question);
    assert.equal(await settled(page), 'done');
    await becomes(() => fixture.state.aborted, before + 1);
    assert.match(await page.textContent('.earlier'), /fixture: slow.*stopped/);
    await page.click('.earlier');
    assert.equal(await page.textContent('.turn-question'), 'fixture: slow');
    assert.match(await page.textContent('.earlier'), /parental leave.*2 sources/);
  });
});

describe('the page', () => {
  onPage('works by keyboard alone', {}, async (page) => {
    await page.keyboard.type('one line');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two lines');
    assert.equal(await page.inputValue('#question'), 'one line\ntwo lines');
    await page.keyboard.press('Enter');
    await settled(page);
    assert.equal(fixture.state.asked.at(-1).question, 'one line\ntwo lines');
    await page.keyboard.press('Tab'); // Ask
    await page.keyboard.press('Tab');
    assert.equal(await activeSelector(page), '.cite');
    const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(ring, 'solid', 'focus is visible');
    await page.keyboard.press('Enter');
    assert.equal(await highlighted(page), folded(longLeave));
    assert.equal(await activeSelector(page), '#panel-text');
    await page.keyboard.press('Escape');
    assert.equal(await page.isVisible('#panel'), false);
    assert.equal(await activeSelector(page), '.cite');
  });

  onPage('offers examples', {}, async (page) => {
    await page.locator('.example').first().click();
    assert.equal(await settled(page), 'done');
    assert.equal(await page.textContent('.turn-question'), question);
    assert.equal(await page.isVisible('#examples'), false);
  });

  onPage('asks nothing when there is nothing to ask, and no more than 10,000 characters', {}, async (page) => {
    const before = fixture.state.asked.length;
    await ask(page, '  \n ');
    assert.equal(fixture.state.asked.length, before);
    await page.fill('#question', '');
    await page.evaluate(() => document.execCommand('insertText', false, 'x'.repeat(12_000)));
    assert.equal((await page.inputValue('#question')).length, 10_000);
    assert.equal(await page.textContent('#ask-count'), '10,000 of 10,000 characters');
  });

  test('says so when nothing has been read, and notices when that changes', async () => {
    const { corpora } = fixture.state;
    fixture.state.corpora = [];
    const { page, troubles, close } = await openPage(browser, fixture.url);
    try {
      await page.waitForSelector('#empty:not([hidden])');
      await page.waitForFunction(() => document.querySelector('#ingest-command').textContent.includes('--data'));
      assert.match(await page.textContent('#empty'), /Nothing has been read yet.*footnote ingest \.\/docs --data \/srv\/answers/s);
      assert.equal(await page.isVisible('#ask'), false);
      assert.deepEqual(await violations(page), []);
      fixture.state.corpora = [...corpora, { name: 'policies', documents: 2, chunks: 3, generation: 1 }];
      await page.click('#check-again');
      await page.waitForSelector('#ask:not([hidden])');
      assert.deepEqual(await page.locator('#corpus option').allTextContents(), ['default corpus', 'policies']);
      await page.selectOption('#corpus', 'policies');
      await ask(page, question);
      await settled(page);
      assert.equal(fixture.state.asked.at(-1).project_key, 'policies');
      assert.deepEqual(troubles, []);
    } finally {
      fixture.state.corpora = corpora;
      await close();
    }
  });

  onPage('fits a phone: no sideways scroll, the source as a sheet', phone, async (page) => {
    assert.equal(await sidewaysScroll(page), 0);
    await ask(page, `${'Donaudampfschifffahrtsgesellschaft'.repeat(6)} ${question}`);
    await settled(page);
    assert.equal(await sidewaysScroll(page), 0);
    await page.locator('.cite').first().tap();
    assert.equal(await highlighted(page), folded(longLeave));
    assert.equal(await sidewaysScroll(page), 0);
    assert.ok(await page.evaluate(() => document.getElementById('panel').matches(':modal')));
    await page.keyboard.press('Escape');
    assert.equal(await activeSelector(page), '.cite');
    await page.setViewportSize({ width: 320, height: 600 });
    assert.equal(await sidewaysScroll(page), 0, 'reflow at 320 px');
  });

  onPage('moves the open source between sheet and side when the window changes', phone, async (page) => {
    await ask(page, question);
    await settled(page);
    await page.locator('.cite').first().click();
    await highlighted(page);
    await page.setViewportSize({ width: 1200, height: 740 });
    await page.waitForFunction(() => !document.getElementById('panel').matches(':modal'));
    assert.ok(await page.isVisible('#panel'));
    await page.keyboard.press('Escape');
    assert.equal(await page.isVisible('#panel'), false);
  });

  onPage('honours reduced motion', { reducedMotion: 'reduce' }, async (page) => {
    await ask(page, 'fixture: slow');
    await page.waitForSelector('.prose p');
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  });

  for (const colorScheme of ['light', 'dark']) {
    onPage(`has no accessibility violations (${colorScheme})`, { colorScheme, reducedMotion: 'reduce' }, async (page) => {
      const paper = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      assert.equal(paper, colorScheme === 'dark' ? 'rgb(18, 20, 25)' : 'rgb(252, 252, 250)');
      await page.waitForSelector('.example');
      assert.deepEqual(await violations(page), []);
      await ask(page, question);
      await settled(page);
      await page.locator('.cite').nth(1).click();
      await highlighted(page);
      assert.deepEqual(await violations(page), []);
      await ask(page, 'fixture: doubts');
      await settled(page);
      await page.locator('.doubts summary').click();
      assert.deepEqual(await violations(page), []);
      await ask(page, 'fixture: unsupported');
      await settled(page);
      await ask(page, 'fixture: refusal');
      await settled(page);
      assert.deepEqual(await violations(page), []);
      await ask(page, 'fixture: error chunk');
      await settled(page);
      assert.deepEqual(await violations(page), []);
    });
  }

  onPage('has the parts of its logic right', {}, async (page) => {
    const results = await page.evaluate(async () => {
      const { EventParser } = await import('/assets/sse.js');
      const { codeUnitOffsets } = await import('/assets/api.js');
      const { locateMark } = await import('/assets/document_text.js');
      const { parseBlocks } = await import('/assets/text_blocks.js');
      const stream = ':c\r\n\r\ndata: a\r\ndata:b\n\nevent: x\rdata\r\rid: 1\ndata:  c\r\n\r\ndata: lost';
      const bySlices = [1, 2, 3, 5, 999].map((size) => {
        const parser = new EventParser();
        const events = [];
        for (let i = 0; i < stream.length; i += size) events.push(...parser.push(stream.slice(i, i + size)).map(({ data }) => data));
        return JSON.stringify(events);
      });
      return {
        bySlices,
        offsets: codeUnitOffsets('a👶b', [3, 0, 2, 9]),
        found: locateMark('x 👶 yes.', { sourceStart: 4, sourceEnd: 8, quote: 'yes.' }),
        lost: locateMark('x', { sourceStart: 4, sourceEnd: 8, quote: 'yes.' }),
        kinds: parseBlocks('# h\ntext\nmore\n\n- a\n  b\n1. c\n> q\n> r\n| t |\n|---|\n***\n```\n# no\n```\nend').map((block) => block.kind),
      };
    });
    assert.deepEqual(new Set(results.bySlices), new Set([JSON.stringify(['a\nb', '', ' c'])]));
    assert.deepEqual(results.offsets, [4, 0, 3, 4]);
    assert.deepEqual(results.found, { start: 5, end: 9 });
    assert.equal(results.lost, null);
    assert.deepEqual(results.kinds, ['heading', 'paragraph', 'item', 'item', 'quote', 'table', 'rule', 'code', 'paragraph']);
  });
});
