// Tests how the chat app reads Markdown: blocks, their parts, and that every part knows its place in the text.

import test from 'node:test';
import assert from 'node:assert/strict';
import { parseInline } from '../../web/app/lib/inline.ts';
import { parseMarkdown, parsePlain } from '../../web/app/lib/markdown.ts';

/** A tree in short notation: <b>, <i>, <s>, `code`, {label|url}, ^1,2 for citations, / for a line break. */
const show = (parts) => parts.map((part) => {
  switch (part.kind) {
    case 'text': return part.value;
    case 'code': return `\`${part.value}\``;
    case 'strong': return `<b>${show(part.children)}</b>`;
    case 'em': return `<i>${show(part.children)}</i>`;
    case 'del': return `<s>${show(part.children)}</s>`;
    case 'link': return `{${show(part.children)}|${part.href}}`;
    case 'cite': return `^${part.numbers}`;
    case 'break': return '/';
  }
}).join('');
const OPTIONS = { cites: true, open: false };
const lineOf = (text, options = OPTIONS) => show(parseInline(text, options));
const inline = (text, options) => lineOf({ value: text, pieces: [{ at: 0, raw: 0 }] }, options);
const showBlocks = (list) => list.map((block) => {
  switch (block.kind) {
    case 'rule': return 'rule';
    case 'code': return `code:${block.language}(${block.text.value})`;
    case 'quote': return `quote(${showBlocks(block.blocks)})`;
    case 'list': return `${block.start === null ? 'ul' : `ol${block.start}`}(${block.items.map((item) => showBlocks(item.blocks)).join(';')})`;
    case 'table': return `table[${block.align.map((align) => align?.[0] ?? '-').join('')}](${[block.head, ...block.rows].map((row) => row.map((cell) => lineOf(cell)).join(',')).join(';')})`;
    case 'heading': return `h${block.level}(${lineOf(block.text)})`;
    case 'paragraph': return `p(${lineOf(block.text)})`;
  }
}).join(' ');
const blocks = (text) => showBlocks(parseMarkdown(text));

/** All runs of text, to compare with the places that they claim. */
function* runs(list) {
  const inner = function* (parts) {
    for (const part of parts) {
      if (part.kind === 'text' || part.kind === 'code') yield part;
      else if (part.children) yield* inner(part.children);
    }
  };
  for (const block of list) {
    if (block.text && block.kind !== 'code') yield* inner(parseInline(block.text, OPTIONS));
    if (block.blocks) yield* runs(block.blocks);
    if (block.items) for (const item of block.items) yield* runs(item.blocks);
    if (block.rows) for (const cell of [block.head, ...block.rows].flat()) yield* inner(parseInline(cell, OPTIONS));
  }
}

const cases = [
  ['# One\n\ntwo\nthree', 'h1(One) p(two three)'],
  ['Title\n=====\n\nSub\n---\ntext', 'h1(Title) h2(Sub) p(text)'],
  ['## A ##\ntext', 'h2(A) p(text)'],
  ['- a\n- b\n  - c\n  - d\n- e', 'ul(p(a);p(b) ul(p(c);p(d));p(e))'],
  ['1. a\n   more\n2. b', 'ol1(p(a more);p(b))'],
  ['3) a\n4) b', 'ol3(p(a);p(b))'],
  ['- a\n\n- b', 'ul(p(a);p(b))'],
  ['- a\n\n  second', 'ul(p(a) p(second))'],
  ['1. a\n   - x\n   - y\n2. b', 'ol1(p(a) ul(p(x);p(y));p(b))'],
  ['> a\n> b\nlazy\n\nc', 'quote(p(a b lazy)) p(c)'],
  ['> - a\n> - b', 'quote(ul(p(a);p(b)))'],
  ['```sh\na | b\n# c\n```\nd', 'code:sh(a | b\n# c) p(d)'],
  ['~~~\n```\n~~~', 'code:(```)'],
  ['```\nnever closed', 'code:(never closed)'],
  ['| a | b |\n|:--|--:|\n| 1 | 2 |\n\nc', 'table[lr](a,b;1,2) p(c)'],
  ['a | b\n--|--\n1 | `x|y`', 'table[--](a,b;1,`x|y`)'],
  ['| a | b |', 'table[](a,b)'],
  ['| a \\| b |\n|---|\n| c |', 'table[-](a | b;c)'],
  ['text with a | pipe', 'p(text with a | pipe)'],
  ['***\n\n---', 'rule rule'],
  ['a\r\nb\r\n\r\n- c\r\n', 'p(a b) ul(p(c))'],
  ['', ''],
  ['text\n- item', 'p(text) ul(p(item))'],
  ['2024. was a year', 'ol2024(p(was a year))'],
  ['<script>alert(1)</script>', 'p(<script>alert(1)</script>)'],
];
for (const [text, wanted] of cases) test(`blocks of ${JSON.stringify(text)}`, () => assert.equal(blocks(text), wanted));

const lines = [
  ['**a** *b* `c` ~~d~~ __e__ _f_', '<b>a</b> <i>b</i> `c` <s>d</s> <b>e</b> <i>f</i>'],
  ['**a *b* c**', '<b>a <i>b</i> c</b>'],
  ['***a***', '<b><i>a</i></b>'],
  ['snake_case_name and 2*3*4', 'snake_case_name and 2*3*4'],
  ['a ** b ** c', 'a ** b ** c'],
  ['**open', '**open'],
  ['said [1] and [2, 3].', 'said ^1 and ^2,3.'],
  ['`code [1]`', '`code [1]`'],
  ['[1](https://a.example)', '{1|https://a.example}'],
  ['[a](https://x.example/y_(z)) b', '{a|https://x.example/y_(z)} b'],
  ['[a](javascript:alert)', '{a|javascript:alert}'],
  ['[over two\nlines](archive/a.md) b', '{over two lines|archive/a.md} b'],
  ['![alt](https://x.example/i.png)', 'alt'],
  ['[[Some page]] and [[page|label]]', 'Some page and label'],
  ['see https://x.example/a, or <https://y.example>.', 'see {https://x.example/a|https://x.example/a}, or {https://y.example|https://y.example}.'],
  ['a\\*b\\* &amp; &lt;i&gt;', 'a*b* & <i>'],
  ['a<br>b  \nc', 'a/b  /c'],
  ['``a ` b``', '`a ` b`'],
];
for (const [text, wanted] of lines) test(`parts of ${JSON.stringify(text)}`, () => assert.equal(inline(text), wanted));

test('what is still being written is no mark', () => {
  const open = { cites: true, open: true };
  assert.equal(inline('some **bold', open), 'some <b>bold</b>');
  assert.equal(inline('some `code', open), 'some `code`');
  assert.equal(inline('said so [1', open), 'said so ');
  assert.equal(inline('see [the page](https://x.exa', open), 'see ');
  assert.equal(inline('2 * 3', open), '2 * 3');
});

test('every run is where it says', () => {
  const text = '# A *b* c\n\n> quoted **text**\n> over lines [1]\n\n1. one\n   - two `x` three\n2. four\n   five\n\n| h | i |\n|---|---|\n| j **k** | l |\n\nlast\nlines & more 👶 **end**';
  const found = [...runs(parseMarkdown(text))];
  assert.ok(found.length > 15);
  for (const { value, from, to } of found) {
    if (value !== ' ') assert.equal(text.slice(from, to), value);
  }
});

test('plain text keeps its lines, its headings and its places', () => {
  const text = 'Payroll\n\nSalaries are paid.\nAlways.\n\n- one\n- two\n\nName | Days\nAda | 27\n\na | b alone';
  const found = parsePlain(text, new Set(['Payroll']));
  assert.equal(showBlocks(found), 'h1(Payroll) p(Salaries are paid. Always.) ul(p(one);p(two)) table[](Name,Days;Ada,27) p(a | b alone)');
  for (const { value, from, to } of runs(found)) if (value !== ' ') assert.equal(text.slice(from, to), value);
});

test('hostile texts are read to their end', () => {
  // A reader that goes back over what it has read would need minutes for these.
  const seeds = ['**', '*a ', '_a', '[', '![', '[[', '[a](', '`', '``a`', '~~', '> ', '- ', '1. ', '|', '| a |\n', '<http://', 'https://', '&amp', '\\', '> - ', '**a*', '[a][', '***a'];
  for (const seed of seeds) {
    const text = `${seed.repeat(20_000 / seed.length)} end`;
    assert.ok(parseMarkdown(text).length > 0, JSON.stringify(seed));
    assert.ok([...runs(parseMarkdown(`x ${text}`))].some(({ value }) => value.endsWith('end')), JSON.stringify(seed));
  }
});
