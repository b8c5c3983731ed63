// Tests every feature of the chat app against a scripted knowledge base (app_server.mjs).

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { ask, focused, highlighted, send, settled, sideways, until, withApp } from './app_page.mjs';
import { longLeave, startApp } from './app_server.mjs';
import { launch } from './browser.mjs';

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

function onApp(name, options, steps, extra = {}) {
  test(name, async () => {
    const server = await startApp(extra.server);
    try {
      await withApp(browser, `${server.url}${extra.path ?? '/app/chat'}`, options, (page) => steps(page, server.state, server.url), extra);
    } finally {
      await server.close();
    }
  });
}

const texts = (page, selector) => page.locator(selector).allInnerTexts();
const button = (page, name) => page.getByRole('button', { name, exact: true });

onApp('an example is asked, answered, cited and followed up', {}, async (page, state) => {
  await page.locator('.example').first().click();
  assert.equal(await settled(page), 'done');
  assert.match(page.url(), /\/app\/chat\/[\w-]+$/);
  assert.match(await page.innerText('.prose'), /26 weeks of parental leave.*eight\.1/s);
  assert.deepEqual(await texts(page, '.cite'), ['1', '1', '2']);
  assert.match(await page.innerText('.confidence'), /High confidence/);
  assert.match(await page.innerText('.meter-line'), /0\.18 s · 1,274 tokens · \$0\.00213 · scripted-1/);
  assert.deepEqual(await texts(page, '.notes > ol .note-title'), ['Parental leave', 'Payroll and payslips']);
  await page.locator('.followup').first().click();
  await until(page, () => document.querySelectorAll('.turn').length === 2);
  assert.equal(await settled(page), 'done');
  assert.match(await page.innerText('.total'), /2,548 tokens/);
  assert.equal(state.asked[1].parentId, 'turn_1', 'the second question follows the first answer');
  assert.match(await page.title(), /^How long is parental leave, and is it paid\? · Footnote$/);
  const top = (await page.locator('.turn').last().boundingBox()).y;
  assert.ok(top > 0 && top < 120, `the new question is at the top of the page, not at ${top}`);
  const box = await page.locator('.composer').boundingBox();
  assert.ok(box.y > (await page.locator('.turn').last().locator('h2').boundingBox()).y, 'the input is below the conversation');
});

onApp('a citation shows its passage on hover and its sentence in the source', {}, async (page) => {
  await ask(page, 'How long is parental leave?');
  await page.locator('.cite').first().hover();
  await page.waitForSelector('.hover-card');
  assert.match(await page.innerText('.hover-card'), /Parental leave[^]*26 weeks of parental leave[^]*supports the sentence/);
  await page.locator('.cite').first().click();
  assert.equal(await highlighted(page), longLeave.replace(/\s+/g, ' '));
  assert.match(await page.innerText('.panel-bar'), /How long it is · line 9 · passage 1 of 2/);
  assert.equal(await page.locator('.panel .table td').count(), 6, 'its table is a table');
  assert.doesNotMatch(await page.innerText('.panel-text'), /##|\| ---/);
  const box = await page.locator('mark.active').first().boundingBox();
  assert.ok(box.y > 0 && box.y < 900, 'the sentence is in view');
  await button(page, 'Next passage').click();
  assert.match(await highlighted(page), /^The first nine weeks/);
  await page.keyboard.press('Escape');
  await page.waitForSelector('.panel', { state: 'detached' });
  await until(page, () => document.activeElement.classList.contains('cite'));
});

onApp('Markdown is rendered, links go to hosts of the sources alone', { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await ask(page, 'markdown');
  assert.equal(await page.innerText('.prose .md-heading'), 'Parental leave in short');
  assert.deepEqual(await texts(page, '.prose td'), ['1 to 9', '100 %', 'first year', '10 to 26', 'unpaid', 'until eight']);
  assert.equal(await page.locator('.prose ol > li').count(), 2);
  assert.equal(await page.locator('.prose ol ul > li').count(), 2);
  assert.equal(await page.locator('.prose blockquote').count(), 1);
  assert.match(await page.locator('.prose pre').evaluate((element) => getComputedStyle(element).fontFamily), /mono/i);
  await button(page.locator('.code'), 'Copy').click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'tally request --kind parental --weeks 9');
  assert.doesNotMatch(await page.innerText('.prose'), /##|\|---|\*\*|```/);
  assert.equal(await page.locator('.prose a, .prose img').count(), 0, 'no host of this answer’s sources is linked');
});

onApp('quotations stand apart, after the answer in brief', {}, async (page) => {
  await ask(page, 'quoted');
  assert.match(await page.innerText('.brief'), /^26 weeks/);
  assert.match(await page.innerText('.quotation blockquote'), /^How long it is\s+Every parent/);
  assert.match(await page.innerText('.quotation figcaption'), /Parental leave\s*line 9/, 'the heading is not said twice');
  await page.locator('.quotation .cite').click();
  assert.match(await highlighted(page), /^Every parent may take/);
});

onApp('a refusal is kind: closest matches, what is covered, and a gap', {}, async (page, state) => {
  assert.equal(await ask(page, 'refuse'), 'refused');
  assert.match(await page.innerText('.refusal h3'), /could not find an answer/);
  assert.deepEqual(await texts(page, '.near-title'), ['Working hours', 'Annual leave']);
  assert.equal(await page.locator('.cite').count(), 0);
  await button(page, 'This should be known').click();
  await page.getByText('Noted as a gap').waitFor();
  assert.deepEqual(state.gaps, [{ question: 'refuse' }]);
  await page.locator('.near').first().click();
  await page.waitForSelector('.panel mark.passage');
  await page.keyboard.press('Escape');
  await page.locator('.refusal .followup').click();
  await until(page, () => document.querySelectorAll('.turn').length === 2);
  assert.equal(await settled(page), 'done');
});

onApp('sentences without support are marked, counted and explained', {}, async (page) => {
  await ask(page, 'doubts');
  assert.deepEqual(await texts(page, '.cite'), ['1', '1?']);
  await page.locator('.doubts summary').click();
  const reasons = await texts(page, '.doubts li');
  assert.match(reasons[0], /40 days of leave[^]*source 1 does not say this/);
  assert.match(reasons[1], /Managers may grant[^]*names no source/);
  assert.equal(await page.evaluate(() => [...CSS.highlights.get('doubtful')].map(String).join('|')), 'Everybody has 40 days of leave 👶 from the first day |on.|Managers may grant more of it whenever they like.');
  assert.match(await page.innerText('.meter-line'), /about 15 tokens/);
});

onApp('a withdrawn answer says so and shows the passages', {}, async (page) => {
  await ask(page, 'withdrawn');
  assert.match(await page.innerText('.withdrawn'), /withdrawn: its sources did not support it/);
  assert.doesNotMatch(await page.innerText('.prose'), /40 days/);
  assert.match(await page.innerText('.prose'), /27 days of annual leave/);
  assert.equal(await page.locator('.doubts').count(), 0, 'what was said of the old answer is gone with it');
});

onApp('an answer can be stopped, on the server too, and what was written stays', {}, async (page, state) => {
  await send(page, 'slow');
  await page.getByText(/word5/).waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await settled(page), 'stopped');
  assert.match(await page.innerText('.prose'), /word5/);
  await until(page, () => document.querySelector('.composer button[type="submit"]'));
  assert.equal(state.stops, 1);
  assert.equal(await ask(page, 'How long is parental leave?'), 'done');
});

onApp('questions are edited and answers made again on branches, which can be walked', {}, async (page, state) => {
  await ask(page, 'first wording');
  await page.hover('.question');
  await button(page, 'Edit question').click();
  await page.fill('.question-edit textarea', 'second wording');
  await page.keyboard.press('Enter');
  await until(page, () => document.querySelector('.question h2')?.textContent === 'second wording');
  await settled(page);
  await page.locator('.question .branch-count').waitFor();
  assert.equal(await page.innerText('.question .branch-count'), '2 of 2');
  await button(page, 'Answer again').click();
  await page.locator('.meta .branch-count').waitFor();
  assert.equal(await page.innerText('.meta .branch-count'), '2 of 2');
  assert.equal(state.asked[2].trigger, 'regenerate-message');
  await button(page, 'Previous answer').click();
  assert.equal(await page.innerText('.meta .branch-count'), '1 of 2');
  await button(page, 'Previous question').click();
  assert.equal(await page.innerText('.question h2'), 'first wording');
  await page.reload();
  await until(page, () => document.querySelector('.question h2')?.textContent === 'first wording');
  assert.equal(await page.innerText('.question .branch-count'), '1 of 2', 'the branch that was open is shown again');
  await page.press('#question', 'ArrowUp');
  await page.waitForSelector('.question-edit');
  await page.keyboard.press('Escape');
  assert.equal(await page.innerText('.question h2'), 'first wording');
});

onApp('a reload resumes the answer that is being written', {}, async (page, state) => {
  await send(page, 'slow');
  await page.getByText(/word9/).waitFor();
  await page.reload();
  await page.getByText(/word20/).waitFor();
  assert.match(await page.innerText('.prose'), /^word1 word2/, 'from its beginning');
  assert.equal(await page.locator('.turn').count(), 1);
  assert.equal(await page.innerText('.question h2'), 'slow');
  await page.getByRole('button', { name: 'Stop' }).click();
  assert.equal(await settled(page), 'stopped');
  assert.equal(state.asked.length, 1, 'nothing was asked twice');
});

onApp('conversations are listed, found, renamed, exported and deleted', { acceptDownloads: true }, async (page, state) => {
  for (const question of ['How long is leave?', 'refuse']) {
    await button(page, 'New conversation').click();
    await until(page, () => !document.querySelector('.turn'));
    await ask(page, question);
  }
  await until(page, () => document.querySelectorAll('.row').length === 2);
  assert.deepEqual(await texts(page, '.row a'), ['refuse', 'How long is leave?']);
  await page.fill('.sidebar .find input', 'long');
  await until(page, () => document.querySelectorAll('.row').length === 1);
  await page.fill('.sidebar .find input', '');
  await until(page, () => document.querySelectorAll('.row').length === 2);
  await page.locator('.row a').last().click();
  await until(page, () => document.querySelector('.question h2')?.textContent === 'How long is leave?');
  assert.equal(await page.locator('.cite').count(), 3, 'a stored answer has its citations');
  const menu = (name) => page.getByRole('button', { name: `More about ${name}` });
  await menu('How long is leave?').click();
  await button(page, 'Rename').click();
  await page.keyboard.type('Leave');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Leave', exact: true }).waitFor();
  await menu('Leave').click();
  const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export as Markdown').click()]);
  assert.equal(file.suggestedFilename(), 'Leave.md');
  await menu('Leave').click();
  await button(page, 'Delete').click();
  await button(page.getByRole('dialog', { name: 'Delete conversation' }), 'Delete').click();
  await until(page, () => document.querySelectorAll('.row').length === 1);
  assert.equal(state.conversations.byId.size, 1);
  await page.waitForSelector('.welcome');
});

onApp('an answer has a link that opens the conversation at it', { permissions: ['clipboard-read', 'clipboard-write'] }, async (page, state, url) => {
  await ask(page, 'How long is leave?');
  await ask(page, 'And then?');
  await page.getByRole('button', { name: 'Copy link' }).first().click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link.startsWith(`${url}/app/chat/`) && link.endsWith('#turn_1'), true, link);
  await page.goto('about:blank');
  await page.goto(link);
  await until(page, () => document.activeElement?.dataset.message === 'turn_1');
  assert.equal(await page.locator('.turn').count(), 2, 'the rest of its branch is there too');
}, { allowed: /about:blank/ });

onApp('answers are rated, with a comment', {}, async (page, state) => {
  await ask(page, 'How long is leave?');
  await button(page, 'Good answer').click();
  await until(page, () => document.querySelector('[aria-label="Good answer"]').ariaPressed === 'true');
  await button(page, 'Bad answer').click();
  await page.getByLabel('What was wrong with it?').fill('too short');
  await page.keyboard.press('Enter');
  await page.getByText('Thank you').waitFor();
  assert.deepEqual(state.feedback, [{ turn: 'turn_1', rating: 'up' }, { turn: 'turn_1', rating: 'down' }, { turn: 'turn_1', rating: 'down', comment: 'too short' }]);
  await page.reload();
  await until(page, () => document.querySelector('[aria-label="Bad answer"]')?.ariaPressed === 'true');
});

onApp('filters limit a question and are shown as chips', {}, async (page, state) => {
  await button(page, 'Filters').click();
  await page.getByLabel('Project').selectOption('archive');
  await page.getByLabel('Tags').fill('ops, network');
  await page.getByLabel('Evidence, at least').selectOption('official');
  await page.getByLabel('From').fill('2026-02-01');
  await page.getByLabel('Until').fill('2026-01-01');
  await button(page, 'Apply').click();
  await page.getByText('“Until” is before “From”.').waitFor();
  await page.getByLabel('Until').fill('2026-03-01');
  await button(page, 'Apply').click();
  assert.equal(await page.locator('.filter-chip').count(), 5);
  await page.getByRole('button', { name: 'Remove filter From: 2026-02-01' }).click();
  await ask(page, 'How long is leave?');
  assert.equal(state.asked[0].project_key, 'archive');
  assert.deepEqual(state.asked[0].filters, { tag_slugs: ['ops', 'network'], evidence_tier_min: 'official', date_to: '2026-03-01' });
});

onApp('files are added with progress and an honest status', {}, async (page, state) => {
  let go;
  state.beforeIngest = new Promise((resolve) => (go = resolve));
  await page.setInputFiles('input[aria-label="Files to add"]', [
    { name: 'good.md', mimeType: 'text/markdown', buffer: Buffer.from('# Good\n\nText.') },
    { name: 'old.doc', mimeType: 'application/msword', buffer: Buffer.from('x') },
    { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
  ]);
  await page.getByText(/Reading \d of 3 files/).waitFor();
  go();
  await page.getByText('3 files: 1 added, 1 left out, 1 failed').waitFor();
  assert.deepEqual(await texts(page, '.upload-state'), ['failed: Word 97: save it as .docx', 'left out: empty file', 'added: 3 passages']);
  assert.equal(Buffer.from(state.ingested[0].content_base64, 'base64').toString(), '# Good\n\nText.');
});

onApp('dropped files are added', {}, async (page, state) => {
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['# Dropped'], 'dropped.md', { type: 'text/markdown' }));
    return transfer;
  });
  await page.dispatchEvent('main', 'dragover', { dataTransfer: data });
  await page.waitForSelector('.drop-veil');
  await page.dispatchEvent('main', 'drop', { dataTransfer: data });
  await page.getByText('1 file: 1 added').waitFor();
  assert.equal(state.ingested[0].source_path, 'dropped.md');
});

onApp('a reader without the scope cannot add documents', {}, async (page) => {
  await until(page, () => !document.querySelector('[aria-label="Add files"]'));
  assert.equal(await page.getByText('Add documents').count(), 0);
}, { server: { needsKey: false, scopes: ['read'] } });

onApp('a server with keys asks once, keeps the key out of the page, and signs out', {}, async (page, state) => {
  await page.getByLabel('API key').fill('fn_live_wrong');
  await page.keyboard.press('Enter');
  await page.getByText('That key was not accepted').waitFor();
  await page.getByLabel('API key').fill('fn_live_good');
  await page.keyboard.press('Enter');
  await page.locator('.example').first().waitFor();
  assert.equal(await ask(page, 'How long is leave?'), 'done');
  assert.equal(await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })).then((kept) => /fn_live|footnote_session/.test(kept)), false);
  await page.getByText('Sign out').click();
  await page.getByLabel('API key').waitFor();
  assert.ok(state.requests.includes('DELETE /api/session'));
}, { server: { needsKey: true }, allowed: /status of 401/ });

onApp('an outage is told, and the question can be asked again', {}, async (page, state) => {
  state.outage = true;
  await send(page, 'How long is leave?');
  await page.getByText('The model is still loading. Try again in 7 seconds.').waitFor();
  state.outage = false;
  await button(page, 'Try again').click();
  assert.equal(await settled(page), 'done');
  assert.equal(await page.locator('.turn').count(), 1);
}, { allowed: /status of 503/ });

onApp('an answer that breaks off says so, keeps its beginning, and is asked for again', {}, async (page, state) => {
  await send(page, 'broken');
  await page.getByText('The model went away.').waitFor();
  assert.match(await page.innerText('.prose'), /Every parent/);
  state.repaired = true;
  await until(page, () => document.querySelectorAll('.row').length === 1);
  await button(page, 'Try again').click();
  assert.equal(await settled(page), 'done');
  assert.equal(state.asked[1].trigger, 'regenerate-message', 'below the same question');
  assert.equal(await page.locator('.turn').count(), 1);
  assert.equal(await page.locator('.question .branch-count').count(), 0);
});

onApp('an unknown conversation is no dead end', {}, async (page) => {
  await page.getByText('This conversation does not exist').waitFor();
  await button(page, 'Start a new conversation').click();
  await page.waitForSelector('.welcome');
}, { path: '/app/chat/nothing-here', allowed: /status of 404/ });

onApp('plain search shows passages, opens them, and asks', {}, async (page, state) => {
  await page.getByLabel('Search for').fill('annual leave days');
  await page.locator('.hit').first().waitFor();
  assert.match(page.url(), /\/app\/search\?q=annual%20leave%20days$/);
  assert.ok((await page.locator('.hit-text mark').count()) > 0);
  assert.doesNotMatch(await page.innerText('.hits'), /##|\| ---|\*\*/);
  await page.locator('.hit').first().click();
  await page.waitForSelector('.panel mark.passage');
  await page.keyboard.press('Escape');
  await button(page, 'Ask this as a question').click();
  assert.equal(await settled(page), 'done');
  assert.equal(state.asked[0].messages[0].parts[0].text, 'annual leave days');
}, { path: '/app/search' });

onApp('an empty corpus says how to fill it', {}, async (page) => {
  await page.getByText('Nothing has been read yet').waitFor();
  assert.equal(await page.innerText('.command code'), 'footnote ingest ./docs --data /srv/answers');
}, { server: { corpora: [] } });

onApp('keyboard shortcuts work and are listed', {}, async (page) => {
  await ask(page, 'How long is leave?');
  await page.keyboard.press('Control+k');
  await until(page, () => document.activeElement.type === 'search');
  await page.keyboard.press('Control+b');
  await page.waitForSelector('.sidebar', { state: 'detached' });
  await page.keyboard.press('Control+b');
  await page.waitForSelector('.sidebar');
  await page.locator('.wordmark').focus();
  await page.keyboard.press('/');
  assert.equal(await focused(page), '#question');
  await page.keyboard.press('Control+/');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Shift+O');
  await page.waitForSelector('.welcome');
  assert.equal(await sideways(page), 0);
});
