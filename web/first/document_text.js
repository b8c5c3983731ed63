// Renders the complete text of a document and highlights cited passages in it.

import { asText, codeUnitOffsets } from './api.js';
import { h } from './dom.js';
import { parseBlocks, parsePlainBlocks } from './text_blocks.js';

const WHOLE_DOCUMENT_CHARS = 400_000; // longer documents first show the part around the passage
const EXCERPT_CHARS = 60_000; // on each side of the passage

const folded = (text) => text.replace(/\s+/g, ' ').trim();

/** The range of a mark's sentence in the document's text, as [start, end) code units; null if not found. */
export function locateMark(text, mark) {
  const [start, end] = codeUnitOffsets(text, [mark.sourceStart, mark.sourceEnd]);
  const there = text.slice(start, end);
  if (there !== '' && (!mark.quote || folded(there) === folded(mark.quote))) return { start, end };
  const at = mark.quote ? text.indexOf(mark.quote) : -1;
  return at < 0 ? null : { start: at, end: at + mark.quote.length };
}

/** The start of the passage whose first words, ignoring white space, are `snippet`; null if not found. */
export function locateSnippet(text, snippet) {
  const words = folded(snippet).split(' ').slice(0, 40);
  if (words.length < 4) return null;
  words.pop(); // the last word may be truncated
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+');
  const match = new RegExp(pattern).exec(text);
  return match && { start: match.index, end: match.index + match[0].length };
}

const SYNTAX = /\*\*|(?<![*\w])\*(?=[^\s*])|(?<=[^\s*])\*(?![*\w])|`+|(?<=^[ \t]{0,8})(?:#{1,6}\s|>)|\]\([^()\s]+\)|\[(?=[^[\]\n]+\]\([^()\s]+\))/gm;

/** Appends [start, end) of the text. Markdown syntax is dimmed, and highlighted ranges are wrapped in <mark>. */
function appendExact(into, text, start, end, highlights, dimSyntax) {
  const signs = dimSyntax
    ? [...text.slice(start, end).matchAll(SYNTAX)].map((m) => [start + m.index, start + m.index + m[0].length])
    : [];
  const inside = highlights.filter((range) => range.start < end && range.end > start);
  const edges = new Set([start, end]);
  for (const range of inside) edges.add(Math.max(range.start, start)).add(Math.min(range.end, end));
  for (const [from, to] of signs) edges.add(from).add(to);
  const sorted = [...edges].sort((a, b) => a - b);
  let mark = null;
  let sign = 0;
  for (let i = 0; i + 1 < sorted.length; i++) {
    const [from, to] = [sorted[i], sorted[i + 1]];
    // If highlights overlap, the active one wins.
    const covering = inside.filter((range) => range.start <= from && range.end >= to);
    const range = covering.find((candidate) => candidate.active) ?? covering[0] ?? null;
    if (range !== (mark?.range ?? null)) {
      mark = range && { range, element: h('mark', { class: range.active ? 'active' : range.near ? 'near' : null }) };
      if (mark) into.append(mark.element);
    }
    while (sign < signs.length && signs[sign][1] <= from) sign++;
    const piece = text.slice(from, to);
    (mark?.element ?? into).append(signs[sign]?.[0] <= from ? h('span', { class: piece === '>' ? 'sign sign-quote' : 'sign' }, piece) : piece);
  }
  return into;
}

function documentBlock(text, block, highlights, markdown) {
  const exact = (element, dim = markdown) => appendExact(element, text, block.start, block.end, highlights, dim);
  switch (block.kind) {
    case 'heading':
      return exact(h('p', { class: 'doc-heading', 'data-level': block.level }));
    case 'item':
      return exact(h('p', { class: 'doc-item', 'data-indent': Math.min(Math.floor(block.indent / 2), 4) }));
    case 'code':
    case 'table':
      return exact(h('pre', { tabindex: '0' }), false);
    case 'quote':
      return exact(h('p', { class: 'doc-quote' }));
    case 'rule':
      return exact(h('p', { class: 'doc-rule' }), false);
    default:
      return exact(h('p', { class: block.kind === 'plain' ? 'doc-plain' : null }));
  }
}

/** Renders a document; if it is very long, only the part around the first active highlight. */
export function documentNodes(doc, headings, highlights, showAll) {
  const markdown = /markdown/.test(asText(doc.media_type));
  const blocks = markdown ? parseBlocks(doc.text) : parsePlainBlocks(doc.text, new Set([doc.title, ...headings]));
  const center = (highlights.find((range) => range.active) ?? highlights[0])?.start ?? 0;
  const whole = showAll || doc.text.length <= WHOLE_DOCUMENT_CHARS;
  const near = (block) =>
    whole || (block.end > center - EXCERPT_CHARS && block.start < center + EXCERPT_CHARS);
  const nodes = blocks.filter(near).map((block) => documentBlock(doc.text, block, highlights, markdown));
  return { nodes, whole };
}
