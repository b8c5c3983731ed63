// Parses the simple Markdown of answers into a tree. Raw HTML is text, images become their alternative text, numbers in brackets are citations.

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em'; children: Inline[] }
  | { kind: 'link'; url: string; children: Inline[] }
  | { kind: 'cite'; ids: number[]; text: string }
  | { kind: 'break' };

export interface ListItem {
  children: Inline[];
  /** Nested lists of this item. */
  lists: ListBlock[];
}

export interface ListBlock {
  kind: 'list';
  ordered: boolean;
  start: number;
  items: ListItem[];
}

export type Block =
  | { kind: 'paragraph' | 'heading' | 'quote'; children: Inline[] }
  | ListBlock
  | { kind: 'code'; text: string }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' };

/** Maximum number of characters that are parsed; the rest is dropped. Servers send much shorter answers. */
export const ANSWER_CHARS_MAX = 40_000;
const NESTING_MAX = 4;
const COLUMNS_MAX = 12;
/** Maximum distance between the two marks of an emphasis. */
const EMPHASIS_CHARS_MAX = 1000;

/** Removes bidirectional controls and invisible characters, which can deceive readers. Letter joiners are kept. */
export const honest = (text: string): string => text.replace(/[\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/gu, '');

const CITE = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/y;
const LINK = /!?\[([^[\]\n]{0,300})\]\(\s*<?([^()\s<>]{1,2000})>?(?:\s+"[^"\n]{0,300}")?\s*\)/y;
const ADDRESS = /https?:\/\/[^\s<>"'`[\](){}]{1,2000}/iy;
const ESCAPE = /\\([\\`*_{}[\]()#+\-.!|>~])/y;

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** The text between the mark at `at` and its closing mark; undefined if it is no emphasis. */
function emphasis(text: string, at: number, mark: string): { inner: string; end: number } | undefined {
  const from = at + mark.length;
  if (/^\s|^$/.test(text.slice(from, from + 1))) return undefined;
  if (mark[0] === '_' && isWord(text[at - 1])) return undefined; // snake_case
  const within = text.slice(from, from + EMPHASIS_CHARS_MAX);
  let to = within.indexOf(mark, 1);
  if (mark.length === 1) while (to > 0 && within[to + 1] === mark) to = within.indexOf(mark, to + 2);
  if (to < 0 || /\s/.test(within[to - 1] ?? ' ')) return undefined;
  const end = from + to + mark.length;
  if (mark[0] === '_' && isWord(text[end])) return undefined;
  return { inner: within.slice(0, to), end };
}

export function parseInline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let plain = '';
  const flush = (): void => {
    if (plain !== '') out.push({ kind: 'text', text: plain });
    plain = '';
  };
  const put = (node: Inline): void => {
    flush();
    out.push(node);
  };
  for (let at = 0; at < text.length; ) {
    const end = step(text, at, depth, put);
    if (end > at) {
      at = end;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  flush();
  return out;
}

/** Appends the node that begins at `at`, if any; returns its end. */
function step(text: string, at: number, depth: number, put: (node: Inline) => void): number {
  switch (text[at]) {
    case '\n':
      put({ kind: 'break' });
      return at + 1;
    case '\\': {
      const found = match(ESCAPE, text, at);
      if (!found) return at;
      put({ kind: 'text', text: found[1] ?? '' });
      return at + 2;
    }
    case '`': {
      const mark = /^`+/.exec(text.slice(at, at + 9))?.[0] ?? '`';
      const to = text.indexOf(mark, at + mark.length);
      if (to < 0) return at;
      put({ kind: 'code', text: text.slice(at + mark.length, to).trim() });
      return to + mark.length;
    }
    case '*':
    case '_': {
      if (depth >= NESTING_MAX) return at;
      const mark = text[at + 1] === text[at] ? text.slice(at, at + 2) : text.slice(at, at + 1);
      const found = emphasis(text, at, mark);
      if (!found) return at;
      put({ kind: mark.length === 2 ? 'strong' : 'em', children: parseInline(found.inner, depth + 1) });
      return found.end;
    }
    case '!':
    case '[': {
      const cite = match(CITE, text, at);
      if (cite) {
        put({ kind: 'cite', ids: (cite[1] ?? '').split(',').map(Number), text: cite[0] });
        return at + cite[0].length;
      }
      const found = depth < NESTING_MAX ? match(LINK, text, at) : null;
      if (!found) return at;
      const [whole, label = '', url = ''] = found;
      if (whole.startsWith('!')) put({ kind: 'text', text: label });
      else put({ kind: 'link', url, children: parseInline(label, NESTING_MAX) });
      return at + whole.length;
    }
    case 'h':
    case 'H': {
      if (isWord(text[at - 1]) || depth >= NESTING_MAX) return at;
      const found = match(ADDRESS, text, at)?.[0].replace(/[.,;:!?*_]+$/, '');
      if (!found) return at;
      put({ kind: 'link', url: found, children: [{ kind: 'text', text: found }] });
      return at + found.length;
    }
    default:
      return at;
  }
}

// In none of these can two repeated parts match the same characters: such patterns take quadratic time, or worse.
const ITEM = /^(\s*)(?:[-*+•]|(\d{1,4})[.)])\s+(\S.*|)$/s;
const FENCE = /^\s*(```+|~~~+)/;
const HEADING = /^\s{0,3}#{1,6}\s/;
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const QUOTE = /^\s{0,3}>\s?(.*)$/;
/** For a trimmed line. */
const TABLE_RULE = /^(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;

/** The text of a heading's line, without the marks at its ends. */
function headingText(line: string): string {
  const text = line.replace(HEADING, '').trim();
  let end = text.length;
  while (text[end - 1] === '#') end -= 1;
  return text.slice(0, end).trimEnd();
}

const cells = (line: string): Inline[][] =>
  line.trim().replace(/^\||\|$/g, '').split('|').slice(0, COLUMNS_MAX).map((cell) => parseInline(cell.trim()));

class Lines {
  private at = 0;
  private lines: string[];
  constructor(text: string) {
    this.lines = honest(text.slice(0, ANSWER_CHARS_MAX)).split(/\r?\n/);
  }
  get peek(): string | undefined { return this.lines[this.at]; }
  get second(): string | undefined { return this.lines[this.at + 1]; }
  next(): string { return this.lines[this.at++] ?? ''; }
}

function readCode(lines: Lines): Block {
  const mark = FENCE.exec(lines.next())?.[1] ?? '```';
  const body: string[] = [];
  while (lines.peek !== undefined && !lines.peek.trimStart().startsWith(mark)) body.push(lines.next());
  lines.next();
  return { kind: 'code', text: body.join('\n') };
}

function readQuote(lines: Lines): Block {
  const body: string[] = [];
  for (let found; lines.peek !== undefined && (found = QUOTE.exec(lines.peek)); lines.next()) body.push(found[1] ?? '');
  return { kind: 'quote', children: parseInline(body.join('\n').trim()) };
}

function readTable(lines: Lines): Block {
  const head = cells(lines.next());
  lines.next();
  const rows: Inline[][][] = [];
  while (lines.peek?.includes('|')) {
    const row = cells(lines.next()).slice(0, head.length);
    while (row.length < head.length) row.push([]);
    rows.push(row);
  }
  return { kind: 'table', head, rows };
}

/** Items of one list; indented items form a nested list of the item before them. */
function readList(lines: Lines, depth = 0): ListBlock {
  const first = ITEM.exec(lines.peek ?? '');
  const indent = first?.[1]?.length ?? 0;
  const ordered = first?.[2] !== undefined;
  const list: ListBlock = { kind: 'list', ordered, start: Number(first?.[2] ?? 1), items: [] };
  let body: string[] = [];
  const finish = (): void => {
    const item = list.items.at(-1);
    if (item) item.children = parseInline(body.join('\n'));
  };
  for (;;) {
    let line = lines.peek;
    // Items separated by one empty line belong to the same list.
    if (line?.trim() === '' && ITEM.test(lines.second ?? '') && isSameList(lines.second ?? '')) {
      lines.next();
      line = lines.peek;
    }
    if (line === undefined || line.trim() === '') break;
    const item = ITEM.exec(line);
    const last = list.items.at(-1);
    if (item && (item[1]?.length ?? 0) > indent + 1 && last && depth < NESTING_MAX) {
      last.lists.push(readList(lines, depth + 1));
    } else if (item) {
      if (!isSameList(line)) break;
      finish();
      body = [item[3] ?? ''];
      list.items.push({ children: [], lists: [] });
      lines.next();
    } else if (/^\s/.test(line) && last?.lists.length === 0) {
      body.push(line.trim());
      lines.next();
    } else {
      break;
    }
  }
  finish();
  return list;

  function isSameList(line: string): boolean {
    const item = ITEM.exec(line);
    const inner = item?.[1]?.length ?? 0;
    if (list.items.length > 0 && inner > indent + 1) return true;
    return inner + 1 >= indent && (item?.[2] !== undefined) === ordered;
  }
}

const isTable = (lines: Lines): boolean =>
  (lines.peek?.includes('|') ?? false) && (lines.second?.includes('-') ?? false) && TABLE_RULE.test((lines.second ?? '').trim());

function readParagraph(lines: Lines): Block {
  const body: string[] = [lines.next().trim()];
  for (let line; (line = lines.peek) !== undefined && line.trim() !== ''; ) {
    if (FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || QUOTE.test(line) || RULE.test(line) || isTable(lines)) break;
    body.push(lines.next().trim());
  }
  return { kind: 'paragraph', children: parseInline(body.join('\n')) };
}

export function parseBlocks(text: string): Block[] {
  const lines = new Lines(text);
  const blocks: Block[] = [];
  for (let line; (line = lines.peek) !== undefined; ) {
    if (line.trim() === '') lines.next();
    else if (FENCE.test(line)) blocks.push(readCode(lines));
    else if (HEADING.test(line)) {
      lines.next();
      blocks.push({ kind: 'heading', children: parseInline(headingText(line)) });
    } else if (RULE.test(line)) {
      lines.next();
      blocks.push({ kind: 'rule' });
    } else if (QUOTE.test(line)) blocks.push(readQuote(lines));
    else if (ITEM.test(line)) blocks.push(readList(lines));
    else if (isTable(lines)) blocks.push(readTable(lines));
    else blocks.push(readParagraph(lines));
  }
  return blocks;
}

/** The plain text of an answer for screen readers: no markup, no source numbers. */
export function plainText(text: string): string {
  const inline = (nodes: Inline[]): string => nodes.map((node) => {
    if (node.kind === 'text' || node.kind === 'code') return node.text;
    if (node.kind === 'cite') return '';
    return node.kind === 'break' ? ' ' : inline(node.children);
  }).join('');
  const list = (block: ListBlock): string =>
    block.items.flatMap((item) => [inline(item.children), ...item.lists.map(list)]).join('. ');
  return parseBlocks(text).map((block) => {
    switch (block.kind) {
      case 'rule': return '';
      case 'code': return block.text;
      case 'list': return list(block);
      case 'table': return [block.head, ...block.rows].map((row) => row.map(inline).join(', ')).join('. ');
      case 'paragraph':
      case 'heading':
      case 'quote': return inline(block.children);
    }
  }).filter((part) => part !== '').join(' ').replace(/\s+/g, ' ').replace(/\s+([.,;:!?])/g, '$1').trim();
}
