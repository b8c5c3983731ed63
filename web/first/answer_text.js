// Renders the text of an answer: simple Markdown and citations. Links stay plain text.

import { h } from './dom.js';
import { lineRanges, parseBlocks } from './text_blocks.js';

const INLINE = new RegExp(
  [
    /\*\*(?=\S)(?<strong>[^]+?)\*\*/,
    /(?<![*\w])\*(?=[^\s*])(?<em>[^*\n]+?)\*(?![*\w])/,
    /`(?<code>[^`\n]+)`/,
    /\[(?<cite>\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/,
    /\[(?<label>[^[\]\n]+)\]\((?<target>[^()\s]+)\)/,
  ].map((part) => part.source).join('|'),
  'dg',
);

/** The position of each text node in the raw answer. */
const rawStart = new WeakMap();

/** Appends the text of [start, end) to `into`, with emphasis, code and citations as elements. */
function appendInline(into, text, start, end, cite) {
  const plain = (from, to, parent = into) => {
    if (from >= to) return;
    const node = document.createTextNode(text.slice(from, to));
    rawStart.set(node, from);
    parent.append(node);
  };
  // A footnote number follows its word directly: no space, no line break between them.
  const footnotes = (from, at, buttons) => {
    const to = from + text.slice(from, at).trimEnd().length;
    if (to === from && into.lastChild?.className === 'cling') return into.lastChild.append(...buttons);
    const word = /\S{1,24}$/.exec(text.slice(Math.max(from, to - 25), to))?.[0].length ?? 0;
    plain(from, to - word);
    const cling = h('span', { class: 'cling' });
    plain(to - word, to, cling);
    cling.append(...buttons);
    into.append(cling);
  };
  const scanned = text.slice(0, end);
  const pattern = new RegExp(INLINE);
  pattern.lastIndex = start;
  let from = start;
  for (let match; (match = pattern.exec(scanned)); ) {
    const { strong, em, code, label, target } = match.groups;
    const [groupStart, groupEnd] = Object.values(match.indices.groups).find(Boolean);
    if (match.groups.cite !== undefined) {
      const buttons = cite(match.groups.cite.split(',').map(Number), match.index);
      if (!buttons) continue; // no such source: keep it as text
      footnotes(from, match.index, buttons);
    } else {
      plain(from, match.index);
      if (label !== undefined) {
        plain(groupStart, groupEnd);
        if (/^https?:/i.test(target)) into.append(` (${target})`);
      } else {
        const element = h(strong !== undefined ? 'strong' : code !== undefined ? 'code' : 'em');
        const inner = code !== undefined ? () => null : cite;
        appendInline(element, text, groupStart, groupEnd, inner);
        into.append(element);
      }
    }
    from = pattern.lastIndex;
  }
  plain(from, end);
  return into;
}

function answerBlock(text, block, cite) {
  switch (block.kind) {
    case 'heading':
      return appendInline(h('p', { class: 'prose-heading' }), text, block.bodyStart, block.end, cite);
    case 'rule':
      return h('hr');
    case 'code': {
      const body = text.slice(block.bodyStart, block.end);
      return h('pre', { tabindex: '0' }, h('code', {}, block.closed ? body.slice(0, body.lastIndexOf('\n') + 1) : body));
    }
    case 'table':
      return h('pre', { tabindex: '0' }, text.slice(block.start, block.end));
    case 'quote': {
      const paragraph = h('p');
      for (const [from, to] of lineRanges(text.slice(block.start, block.end))) {
        const marker = /^\s*>\s?/.exec(text.slice(block.start + from, block.start + to));
        appendInline(paragraph, text, block.start + from + (marker?.[0].length ?? 0), block.start + to, cite);
        paragraph.append(' ');
      }
      return h('blockquote', {}, paragraph);
    }
    case 'list': {
      const [first] = block.items;
      const list = h(first.number ? 'ol' : 'ul', { start: first.number && first.number !== '1' ? first.number : null });
      for (const item of block.items) list.append(appendInline(h('li'), text, item.bodyStart, item.end, cite));
      return list;
    }
    default:
      return appendInline(h('p'), text, block.bodyStart, block.end, cite);
  }
}

function groupLists(blocks) {
  const grouped = [];
  for (const block of blocks) {
    const last = grouped.at(-1);
    if (block.kind !== 'item') grouped.push(block);
    else if (last?.kind === 'list' && !last.items[0].number === !block.number) {
      last.items.push(block);
      last.end = block.end;
    } else grouped.push({ kind: 'list', start: block.start, end: block.end, items: [block] });
  }
  return grouped;
}

/**
 * Updates `container` to show the text. Only changed blocks are replaced, so focus and selection survive.
 * `cite(numbers, position)` returns the buttons of a citation, or null if there is no such source.
 */
export function renderAnswer(container, text, sourceCount, cite) {
  const blocks = groupLists(parseBlocks(text));
  for (const [i, block] of blocks.entries()) {
    const key = `${block.kind} ${block.start} ${sourceCount} ${text.slice(block.start, block.end)}`;
    const old = container.children[i];
    if (old?.answerKey === key) continue;
    const fresh = answerBlock(text, block, cite);
    fresh.answerKey = key;
    const focused = old?.contains(document.activeElement) ? document.activeElement.dataset.at : undefined;
    if (old) old.replaceWith(fresh);
    else container.append(fresh);
    if (focused !== undefined) fresh.querySelector(`[data-at="${focused}"]`)?.focus({ preventScroll: true });
  }
  while (container.children.length > blocks.length) container.lastElementChild.remove();
}

/** The nodes of `container` that show [from, to) of the raw answer. */
export function rangesOf(container, from, to) {
  const ranges = [];
  const nodes = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const node = nodes.currentNode;
    const start = rawStart.get(node);
    if (start === undefined) continue;
    const first = Math.max(from - start, 0);
    const last = Math.min(to - start, node.length);
    if (first >= last) continue;
    const range = new Range();
    range.setStart(node, first);
    range.setEnd(node, last);
    ranges.push(range);
  }
  return ranges;
}
