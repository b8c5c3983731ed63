// Finds the blocks of a text: simple Markdown or plain text. Answers are rendered from the blocks; documents
// are shown completely. A block is {kind, start, end, bodyStart, …} in code units of the text.

export function* lineRanges(text) {
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    yield [start, end];
    start = end + 1;
  }
}

/** Simple Markdown: headings, items, quotes, tables, fenced code, rules and paragraphs. */
export function parseBlocks(text) {
  const blocks = [];
  let open = null; // the block that the next plain line continues
  let fence = null;
  const add = (block) => {
    blocks.push(block);
    return block;
  };
  for (const [start, end] of lineRanges(text)) {
    const line = text.slice(start, end);
    const continues = (kind) => open?.kind === kind && ((open.end = end), true);
    let match;
    if (fence) {
      fence.end = end;
      if (line.trim().startsWith(fence.marker)) {
        fence.closed = true;
        fence = null;
      }
    } else if ((match = /^\s{0,3}(```|~~~)/.exec(line))) {
      fence = add({ kind: 'code', start, end, marker: match[1], bodyStart: Math.min(end + 1, text.length), closed: false });
      open = null;
    } else if (line.trim() === '') {
      open = null;
    } else if ((match = /^(#{1,6})\s+/.exec(line))) {
      add({ kind: 'heading', level: match[1].length, start, end, bodyStart: start + match[0].length });
      open = null;
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      add({ kind: 'rule', start, end, bodyStart: end });
      open = null;
    } else if (/^\s*\|/.test(line)) {
      if (!continues('table')) open = add({ kind: 'table', start, end, bodyStart: start });
    } else if (/^\s{0,3}>/.test(line)) {
      if (!continues('quote')) open = add({ kind: 'quote', start, end, bodyStart: start });
    } else if ((match = /^(\s*)(?:[-*+]|(\d{1,4})[.)])\s+/.exec(line))) {
      const indent = match[1].length;
      open = add({ kind: 'item', start, end, bodyStart: start + match[0].length, indent, number: match[2] });
    } else if (open && open.kind !== 'table') {
      open.end = end;
    } else {
      open = add({ kind: 'paragraph', start, end, bodyStart: start });
    }
  }
  return blocks;
}

/** Plain text: blank lines separate blocks. A short line on its own is treated as a heading. */
export function parsePlainBlocks(text, headings) {
  const blocks = [];
  let open = null;
  for (const [start, end] of lineRanges(text)) {
    if (text.slice(start, end).trim() === '') open = null;
    else if (open) open.end = end;
    else blocks.push((open = { kind: 'plain', start, end, bodyStart: start }));
  }
  for (const [i, block] of blocks.entries()) {
    const words = text.slice(block.start, block.end);
    const bare = words.length <= 60 && !/[.:;,!?|\n]|^[-*\d]/.test(words) && i < blocks.length - 1;
    if (headings.has(words) || bare) Object.assign(block, { kind: 'heading', level: i === 0 ? 1 : 2 });
  }
  return blocks;
}
