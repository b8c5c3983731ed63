// Tests what the chat app knows without showing it: answers, branches, links, filters, cited places.

import test from 'node:test';
import assert from 'node:assert/strict';
import { citedNumbers, doubtful, markAt, quotations, readAnswer } from '../../web/app/lib/answer.ts';
import { excerpt, locateQuote, locateSnippet } from '../../web/app/lib/document.ts';
import { activeFilters, filterBody, NO_FILTERS } from '../../web/app/lib/filters.ts';
import { allowedLink, hostsOf } from '../../web/app/lib/links.ts';
import { newestLeaf, pathTo, readTree, siblings } from '../../web/app/lib/tree.ts';

const source = (number) => ({ type: 'source-url', sourceId: String(number), url: 'https://docs.example/a', title: 'A', providerMetadata: { footnote: { number, documentId: 7, version: 2, sourcePath: 'a.md', headings: ['A', 'B'] } } });
const message = (parts, metadata = {}) => ({ id: 'm', role: 'assistant', parts, metadata });

test('an answer is read from its parts; places count code points', () => {
  const view = readAnswer(message([
    source(1), source(2), { type: 'text', text: '👶 One. [1] Two. [2, 9]' },
    { type: 'data-citations', data: [{ number: 1, answerStart: 0, answerEnd: 6, sourceStart: 3, sourceEnd: 9, quote: 'q', support: 'supported' }, { number: 1, answerStart: 11, answerEnd: 15, sourceStart: 0, sourceEnd: 0 }] },
    { type: 'data-check', data: { answerStart: 11, answerEnd: 15, numbers: [2], support: 'unsupported' } },
    { type: 'data-confidence', data: { confidence: 81, tier: 'high' } },
  ], { turnId: 't', latencyMs: 5, model: 'm', usage: { prompt_tokens: 3, completion_tokens: 4, cost: { amount: 0.5, currency: 'EUR' } } }));
  assert.deepEqual([view.citations[0].from, view.citations[0].to], [0, 7], 'an emoji is one code point and two code units');
  assert.equal(view.text.slice(view.checks[0].from, view.checks[0].to), 'Two.');
  assert.equal(doubtful(view).length, 1);
  assert.deepEqual(citedNumbers(view), [1, 2], 'a source that was not given is not cited');
  assert.equal(markAt(view, 1, 8).sourceStart, 3);
  assert.deepEqual(view.usage, { prompt: 3, completion: 4, estimated: false, cost: 0.5, currency: 'EUR' });
  assert.equal(view.sources.get(1).url, 'https://docs.example/a');
});

test('parts of any shape never break the page', () => {
  for (const junk of [null, undefined, 7, 'x', [], {}, [null], { a: { b: 1 } }, { numbers: 'x', nearest: 5, confidence: {} }]) {
    const types = ['data-citations', 'data-check', 'data-confidence', 'data-refusal', 'data-followups', 'data-replace', 'data-unknown'];
    const view = readAnswer(message([...types.map((type) => ({ type, data: junk })), { type: 'source-url', sourceId: 'x', url: '', providerMetadata: junk ?? undefined }, { type: 'text', text: 'ok' }], junk));
    assert.equal(view.text, 'ok');
    assert.doesNotThrow(() => readTree({ messages: [{ id: 'a', role: 'assistant', text: 'x', citations: junk, meta: junk, feedback: junk, refusal_reason: junk, confidence: junk }] }));
  }
});

test('what follows a withdrawal stands instead of what was before', () => {
  const view = readAnswer(message([source(1), { type: 'text', text: 'wrong [1]' }, { type: 'data-check', data: { support: 'unsupported' } }, { type: 'data-replace', data: { reason: 'loop' } }, source(3), { type: 'text', text: 'right [3]' }]));
  assert.equal(view.text, 'right [3]');
  assert.deepEqual([...view.sources.keys()], [3]);
  assert.equal(view.checks.length, 0);
  assert.match(view.replaced, /circles/);
});

test('an answer made of quotations is shown as such', () => {
  const text = 'five [1]\n\n**Carrying over**\n\nFive days. [1]';
  const view = readAnswer(message([source(1), { type: 'text', text }, { type: 'data-citations', data: [{ number: 1, answerStart: 0, answerEnd: 8 }, { number: 1, answerStart: 10, answerEnd: text.length }] }], { model: null }));
  assert.deepEqual(quotations(view).map(({ text: words, brief }) => [words, brief]), [['five', true], ['**Carrying over**\n\nFive days.', false]]);
  assert.deepEqual(quotations({ ...view, quoted: false }), [], 'a model’s answer is no quotation');
});

test('a conversation is a tree', () => {
  const node = (id, parent, role) => ({ id, parent_id: parent, role, text: id });
  const tree = readTree({ id: 'c', active_leaf: 'a2', messages: [node('q1', null, 'user'), node('a1', 'q1', 'assistant'), node('a2', 'q1', 'assistant'), node('q2', 'a1', 'user'), node('a3', 'q2', 'assistant'), node('q0', null, 'user')] });
  assert.deepEqual(pathTo(tree, 'a3').map(({ id }) => id), ['q1', 'a1', 'q2', 'a3']);
  assert.deepEqual(siblings(tree, 'a1'), ['a1', 'a2']);
  assert.deepEqual(siblings(tree, 'q1'), ['q1', 'q0']);
  assert.equal(newestLeaf(tree, 'a1'), 'a3');
  assert.equal(newestLeaf(tree, 'q1'), 'a2');
  assert.deepEqual(pathTo(tree, 'nowhere'), []);
  const loop = readTree({ messages: [node('a', 'b', 'user'), node('b', 'a', 'assistant')] });
  assert.equal(pathTo(loop, 'a').length, 2);
  assert.ok(newestLeaf(loop, 'a'));
});

test('only addresses of hosts in the sources are links', () => {
  const hosts = hostsOf(['https://docs.example/a', 'http://127.0.0.1:8080/x', 'javascript:alert(1)', null, '/api/kb/documents/1/preview', 'not an address']);
  assert.deepEqual([...hosts], ['docs.example', '127.0.0.1:8080']);
  for (const good of ['https://docs.example/b?c=d', 'http://docs.example/', 'HTTPS://DOCS.EXAMPLE/x', 'http://127.0.0.1:8080/y']) assert.ok(allowedLink(good, hosts), good);
  for (const bad of ['javascript:alert(1)', 'https://evil.example/', 'https://docs.example.evil.example/', 'https://docs.example@evil.example/', 'https://u:p@docs.example/', '//docs.example/', 'https:docs.example', 'ftp://docs.example/', 'data:text/html,x',
    'http://127.0.0.1/', 'https://docs.example:444/', ' https://docs.example/', `https://docs.example/${'x'.repeat(2000)}`, '']) assert.equal(allowedLink(bad, hosts), null, bad);
});

test('filters become what the server reads, and nothing if none is set', () => {
  assert.deepEqual(filterBody(NO_FILTERS), {});
  assert.deepEqual(filterBody({ ...NO_FILTERS, project: 'p' }), { project_key: 'p' });
  assert.deepEqual(filterBody({ ...NO_FILTERS, tags: ' a, b ,', folders: '!x/**', tierMin: 'official' }), { filters: { tag_slugs: ['a', 'b'], folder_globs: ['!x/**'], evidence_tier_min: 'official' } });
  assert.deepEqual(activeFilters({ ...NO_FILTERS, tierMin: 'peer_reviewed' }), [['tierMin', 'At least: peer reviewed']]);
});

test('cited places are found by their offsets, else by their words', () => {
  const text = '👶 intro\n\nThe rule\nis five days. And more of it here.';
  assert.deepEqual(locateQuote(text, 9, 31, 'The rule is five days.'), { from: 10, to: 32 });
  assert.deepEqual(locateQuote(text, 0, 3, 'And more'), { from: 33, to: 41 }, 'the document has changed');
  assert.equal(locateQuote(text, 0, 3, 'never said'), null);
  assert.deepEqual(locateSnippet(text, 'The rule is five days. And'), { from: 10, to: 32 });
  assert.equal(locateSnippet(text, '(((( [[[ *** +++'), null);
  const long = 'word word\n\n'.repeat(40_000);
  const part = excerpt(long, 220_000, false);
  assert.ok(part.from > 0 && part.to < long.length && part.to - part.from < 70_000);
  assert.deepEqual(excerpt(long, 0, true), { from: 0, to: long.length });
});
