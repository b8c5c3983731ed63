// Finds the blocks of a text written in Markdown. Everything keeps its place in the text, so that sentences can be marked and
// citations bound in what is shown. HTML is never interpreted: it stays text.

import type { Mapped } from './text.ts';

export type Align = 'left' | 'center' | 'right' | undefined;

export type Block = { from: number; to: number } & (
  | { kind: 'paragraph'; text: Mapped }
  | { kind: 'heading'; level: number; text: Mapped }
  | { kind: 'code'; language: string; text: Mapped; closed: boolean }
  | { kind: 'table'; align: Align[]; head: Mapped[]; rows: Mapped[][] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; start: number | null; items: { from: number; blocks: Block[] }[] }
  | { kind: 'rule' }
);

interface Line {
  value: string;
  raw: number;
}

const DEPTH_MAX = 8; // deeper quotes and lists are shown as text
const COLUMNS_MAX = 64;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,12})([-*+•]|\d{1,9}[.)])(?:([ \t]+)|$)/;
const DIVIDER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*$/;

const isBlank = (line: Line) => line.value.trim() === '';
const endOf = (line: Line) => line.raw + line.value.length;
const mapped = (value: string, raw: number): Mapped => ({ value, pieces: [{ at: 0, raw }] });

function joined(lines: Line[]): Mapped {
  const pieces: Mapped['pieces'] = [];
  let value = '';
  for (const line of lines) {
    if (pieces.length > 0) value += '\n';
    pieces.push({ at: value.length, raw: line.raw });
    value += line.value;
  }
  return { value, pieces };
}

function linesOf(text: string, base: number): Line[] {
  const lines: Line[] = [];
  let start = 0;
  while (start <= text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const value = text.slice(start, end);
    lines.push({ value: value.endsWith('\r') ? value.slice(0, -1) : value, raw: base + start });
    if (newline < 0) break;
    start = end + 1;
  }
  return lines;
}

/** The same line without its first characters; tabs count as they are. */
const cut = (line: Line, count: number): Line => ({ value: line.value.slice(count), raw: line.raw + Math.min(count, line.value.length) });

function cells(line: Line): Mapped[] {
  const out: Mapped[] = [];
  const { value } = line;
  let start = value.search(/\S|$/);
  if (value[start] === '|') start++;
  let inCode = false;
  for (let i = start; i <= value.length && out.length < COLUMNS_MAX; i++) {
    const c = value[i];
    if (c === '\\') i++;
    else if (c === '`') inCode = !inCode && value.indexOf('`', i + 1) > 0;
    else if (i === value.length || (c === '|' && !inCode)) {
      if (i === value.length && value.slice(start, i).trim() === '' && out.length > 0) break;
      const cell = value.slice(start, i);
      const lead = cell.length - cell.trimStart().length;
      out.push(mapped(cell.trim(), line.raw + start + Math.min(lead, cell.length)));
      start = i + 1;
    }
  }
  return out;
}

const alignOf = (cell: string): Align =>
  cell.startsWith(':') ? (cell.endsWith(':') ? 'center' : 'left') : cell.endsWith(':') ? 'right' : undefined;

class Parser {
  parse(lines: Line[], depth: number): Block[] {
    const blocks: Block[] = [];
    for (let i = 0; i < lines.length; ) {
      if (isBlank(lines[i]!)) i++;
      else i = this.block(lines, i, depth, blocks);
    }
    return blocks;
  }

  /** Adds the block that begins at line `i`; returns the first line after it. */
  private block(lines: Line[], i: number, depth: number, blocks: Block[]): number {
    const line = lines[i]!;
    const fence = FENCE.exec(line.value);
    if (fence) return this.code(lines, i, fence, blocks);
    const heading = HEADING.exec(line.value);
    if (heading) {
      const rest = line.value.slice(heading[0].length).replace(/(?:^|[ \t]+)#+[ \t]*$/, '');
      blocks.push({ kind: 'heading', level: heading[1]!.length, text: mapped(rest, line.raw + heading[0].length), from: line.raw, to: endOf(line) });
      return i + 1;
    }
    if (RULE.test(line.value)) {
      blocks.push({ kind: 'rule', from: line.raw, to: endOf(line) });
      return i + 1;
    }
    if (this.isTable(lines, i)) return this.table(lines, i, blocks);
    if (depth < DEPTH_MAX && QUOTE.test(line.value)) return this.quote(lines, i, depth, blocks);
    if (depth < DEPTH_MAX && ITEM.test(line.value)) return this.list(lines, i, depth, blocks);
    return this.paragraph(lines, i, depth, blocks);
  }

  private code(lines: Line[], i: number, fence: RegExpExecArray, blocks: Block[]): number {
    const mark = fence[1]!;
    const indent = lines[i]!.value.search(/\S/);
    let end = i + 1;
    const isEnd = (line: Line) => {
      const trimmed = line.value.trim();
      return trimmed.length >= mark.length && trimmed === mark[0]!.repeat(trimmed.length);
    };
    while (end < lines.length && !isEnd(lines[end]!)) end++;
    const closed = end < lines.length;
    const body = lines.slice(i + 1, end).map((line) => cut(line, Math.min(indent, Math.max(0, line.value.search(/\S|$/)))));
    const last = lines[closed ? end : lines.length - 1]!;
    blocks.push({ kind: 'code', language: fence[2]!.slice(0, 24), text: joined(body), closed, from: lines[i]!.raw, to: endOf(last) });
    return end + 1;
  }

  /** A row of pipes above a divider; or lines that begin with a pipe, as a table that is still being written. */
  private isTable(lines: Line[], i: number): boolean {
    const { value } = lines[i]!;
    if (!value.includes('|')) return false;
    const next = lines[i + 1]?.value ?? '';
    return (next.includes('-') && next.includes('|') && DIVIDER.test(next)) || /^ {0,3}\|.*\|/.test(value) || (/^ {0,3}\|/.test(value) && i + 1 >= lines.length);
  }

  private table(lines: Line[], i: number, blocks: Block[]): number {
    let end = i + 1;
    let align: Align[] = [];
    const head = cells(lines[i]!);
    const next = lines[end];
    if (next && DIVIDER.test(next.value) && next.value.includes('-')) {
      align = cells(next).map((cell) => alignOf(cell.value));
      end++;
    }
    const rows: Mapped[][] = [];
    while (end < lines.length && !isBlank(lines[end]!) && lines[end]!.value.includes('|')) rows.push(cells(lines[end++]!));
    blocks.push({ kind: 'table', align, head, rows, from: lines[i]!.raw, to: endOf(lines[end - 1]!) });
    return end;
  }

  private quote(lines: Line[], i: number, depth: number, blocks: Block[]): number {
    const inner: Line[] = [];
    let end = i;
    for (; end < lines.length; end++) {
      const line = lines[end]!;
      const mark = QUOTE.exec(line.value);
      if (mark) inner.push(cut(line, mark[0].length));
      else if (isBlank(line) || isBlank(inner.at(-1)!) || this.startsBlock(lines, end)) break;
      else inner.push(line); // a lazy continuation
    }
    blocks.push({ kind: 'quote', blocks: this.parse(inner, depth + 1), from: lines[i]!.raw, to: endOf(lines[end - 1]!) });
    return end;
  }

  private list(lines: Line[], i: number, depth: number, blocks: Block[]): number {
    const first = ITEM.exec(lines[i]!.value)!;
    const ordered = /\d/.test(first[2]!);
    const items: { from: number; blocks: Block[] }[] = [];
    let end = i;
    while (end < lines.length) {
      const match = ITEM.exec(lines[end]!.value);
      if (!match || /\d/.test(match[2]!) !== ordered || RULE.test(lines[end]!.value)) break;
      const from = lines[end]!.raw;
      const width = match[0].length > match[1]!.length + match[2]!.length + 4 ? match[1]!.length + match[2]!.length + 1 : match[0].length;
      const inner = [cut(lines[end]!, width)];
      end = this.itemLines(lines, end + 1, match[1]!.length, width, inner);
      items.push({ from, blocks: this.parse(inner, depth + 1) });
      let next = end;
      while (next < lines.length && isBlank(lines[next]!)) next++;
      const follows = next < lines.length ? ITEM.exec(lines[next]!.value) : null;
      if (!follows || follows[1]!.length > match[1]!.length + 3) break;
      end = next;
    }
    const last = lines.slice(i, end).findLast((line) => !isBlank(line))!;
    blocks.push({ kind: 'list', start: ordered ? parseInt(first[2]!, 10) : null, items, from: lines[i]!.raw, to: endOf(last) });
    return end;
  }

  /** Collects the lines of one item after its first; returns the line after them. */
  private itemLines(lines: Line[], i: number, indent: number, width: number, into: Line[]): number {
    for (; i < lines.length; i++) {
      const line = lines[i]!;
      const lead = line.value.search(/\S|$/);
      if (isBlank(line)) {
        const next = lines[i + 1];
        if (!next || isBlank(next) || next.value.search(/\S|$/) < Math.min(width, indent + 2)) return i;
        into.push(cut(line, line.value.length));
      } else if (lead >= width || lead >= indent + 2) {
        into.push(cut(line, Math.min(lead, width)));
      } else if (ITEM.test(line.value) || this.startsBlock(lines, i)) {
        return i;
      } else {
        into.push(cut(line, lead)); // a lazy continuation
      }
    }
    return i;
  }

  private paragraph(lines: Line[], i: number, depth: number, blocks: Block[]): number {
    let end = i + 1;
    for (; end < lines.length && !isBlank(lines[end]!); end++) {
      const underline = UNDERLINE.exec(lines[end]!.value);
      if (underline) {
        const text = joined(lines.slice(i, end).map((line) => cut(line, line.value.search(/\S|$/))));
        blocks.push({ kind: 'heading', level: underline[1]!.startsWith('=') ? 1 : 2, text, from: lines[i]!.raw, to: endOf(lines[end]!) });
        return end + 1;
      }
      if (this.startsBlock(lines, end) || (depth < DEPTH_MAX && /^ {0,3}(?:[-*+•]|1[.)])[ \t]/.test(lines[end]!.value))) break;
    }
    const body = lines.slice(i, end).map((line) => cut(line, line.value.search(/\S|$/)));
    blocks.push({ kind: 'paragraph', text: joined(body), from: lines[i]!.raw, to: endOf(lines[end - 1]!) });
    return end;
  }

  private startsBlock(lines: Line[], i: number): boolean {
    const { value } = lines[i]!;
    return FENCE.test(value) || HEADING.test(value) || RULE.test(value) || QUOTE.test(value) || this.isTable(lines, i);
  }
}

/** The blocks of a text whose first character is at `base` of the whole. */
export const parseMarkdown = (text: string, base = 0): Block[] => new Parser().parse(linesOf(text, base), 0);

/** Text of other formats: blank lines separate paragraphs, rows of a table are `cell | cell`, and a line alone that is one of `headings`
 * is a heading. */
export function parsePlain(text: string, headings: ReadonlySet<string>): Block[] {
  const blocks: Block[] = [];
  const lines = linesOf(text, 0);
  for (let i = 0; i < lines.length; ) {
    if (isBlank(lines[i]!)) {
      i++;
      continue;
    }
    let end = i;
    while (end < lines.length && !isBlank(lines[end]!)) end++;
    const group = lines.slice(i, end);
    const place = { from: group[0]!.raw, to: endOf(group.at(-1)!) };
    const isItem = group.every((line) => /^\s*[-•*]\s/.test(line.value));
    if (group.length === 1 && headings.has(group[0]!.value.trim())) {
      blocks.push({ kind: 'heading', level: blocks.length === 0 ? 1 : 2, text: joined(group), ...place });
    } else if (group.length > 1 && group.every((line) => line.value.includes(' | '))) {
      blocks.push({ kind: 'table', align: [], head: cells(group[0]!), rows: group.slice(1).map(cells), ...place });
    } else if (isItem) {
      const items = group.map((line) => {
        const body = cut(line, /^\s*[-•*]\s+/.exec(line.value)?.[0].length ?? 0);
        return { from: line.raw, blocks: [{ kind: 'paragraph' as const, text: joined([body]), from: body.raw, to: endOf(body) }] };
      });
      blocks.push({ kind: 'list', start: null, items, ...place });
    } else {
      blocks.push({ kind: 'paragraph', text: joined(group), ...place });
    }
    i = end;
  }
  return blocks;
}
