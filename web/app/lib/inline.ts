// The parts of a line of Markdown: emphasis, code, links, citations. Every part keeps its place in the text.

import { rawOf, type Mapped } from './text.ts';

export type Inline =
  | { kind: 'text'; value: string; from: number; to: number }
  | { kind: 'strong' | 'em' | 'del'; children: Inline[] }
  | { kind: 'code'; value: string; from: number; to: number }
  | { kind: 'link'; href: string; children: Inline[] }
  | { kind: 'cite'; numbers: number[]; at: number }
  | { kind: 'break' };

export interface InlineOptions {
  /** `[1]` and `[1, 2]` are citations. */
  cites: boolean;
  /** Marks that are still open at the end are closed, as their end has not been written yet. */
  open: boolean;
  /** Line ends are kept, for text that is not Markdown. */
  plain?: boolean;
}

const DEPTH_MAX = 6;
const CITE = /\[(\d{1,3}(?:\s*,\s*\d{1,3}){0,19})\](?!\()/y;
const LINK = /!?\[((?:[^[\]\\]|\\.|\[[^[\]]{0,200}\]){0,1000})\]\(\s*<?([^()\s<>]{0,2000}(?:\([^()\s]{0,200}\)[^()\s<>]{0,2000})?)>?(?:\s+(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'))?\s*\)/y;
const WIKI = /!?\[\[([^[\]\n|]{1,300})(?:\|([^[\]\n]{1,300}))?\]\]/y;
const AUTOLINK = /<(https?:\/\/[^\s<>]{1,2000})>/y;
const URL = /https?:\/\/[^\s<>"'`|\\^{}]{1,2000}/y;
const ENTITY = /&(amp|lt|gt|quot|nbsp|#39|apos);/y;
const BREAK = /<br\s*\/?>/iy;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', '#39': "'", apos: "'" };

const at = (pattern: RegExp, text: string, index: number) => {
  pattern.lastIndex = index;
  return pattern.exec(text);
};

class Scanner {
  private readonly text: Mapped;
  private readonly options: InlineOptions;
  private readonly value: string;
  /** Closing marks that were searched and not found: they need no second search. */
  private readonly missing = new Set<string>();

  constructor(text: Mapped, options: InlineOptions) {
    this.text = text;
    this.options = options;
    this.value = text.value;
  }

  scan(start: number, end: number, depth: number): Inline[] {
    const out: Inline[] = [];
    let from = start; // text that is not yet in `out` begins here
    const flush = (to: number) => {
      if (to > from) out.push(this.run(from, to));
    };
    for (let i = start; i < end; ) {
      const found = this.special(i, end, depth, out, flush);
      if (found > i) i = from = found;
      else i++;
    }
    flush(end);
    return out;
  }

  private run(from: number, to: number): Inline {
    const raw = rawOf(this.text, from);
    return { kind: 'text', value: this.value.slice(from, to), from: raw, to: raw + to - from };
  }

  /** Handles what begins at `i` and returns where it ends; `i` if it is plain text. */
  private special(i: number, end: number, depth: number, out: Inline[], flush: (to: number) => void): number {
    const { value } = this;
    const put = (to: number, ...parts: Inline[]) => {
      flush(i);
      out.push(...parts);
      return to;
    };
    switch (value[i]) {
      case '\n': {
        if (this.options.plain) return put(i + 1, { kind: 'break' });
        const hard = value.endsWith('  ', i) || value[i - 1] === '\\';
        return put(i + 1, hard ? { kind: 'break' } : { kind: 'text', value: ' ', from: rawOf(this.text, i), to: rawOf(this.text, i) + 1 });
      }
      case '\\':
        return /[!-/:-@[-`{-~]/.test(value[i + 1] ?? '') && i + 1 < end ? put(i + 2, this.run(i + 1, i + 2)) : i;
      case '`':
        return this.code(i, end, put);
      case '!':
        return value[i + 1] === '[' ? this.link(i, end, depth, put) : i;
      case '[':
        return this.link(i, end, depth, put);
      case '<':
        return this.angle(i, end, put);
      case '&': {
        const match = at(ENTITY, value, i);
        const raw = rawOf(this.text, i);
        return match && match.index + match[0].length <= end
          ? put(i + match[0].length, { kind: 'text', value: ENTITIES[match[1]!]!, from: raw, to: raw + match[0].length })
          : i;
      }
      case 'h': {
        const match = /\w/.test(value[i - 1] ?? '') ? null : at(URL, value, i);
        if (!match) return i;
        const href = match[0].slice(0, end - i).replace(/[.,;:!?)\]*_~]+$/, '');
        return put(i + href.length, { kind: 'link', href, children: [this.run(i, i + href.length)] });
      }
      case '*':
      case '_':
      case '~':
        return this.options.plain ? i : this.emphasis(i, end, depth, put);
      default:
        return i;
    }
  }

  private code(i: number, end: number, put: (to: number, ...parts: Inline[]) => number): number {
    let width = 1;
    while (this.value[i + width] === '`') width++;
    const mark = '`'.repeat(width);
    let close = this.missing.has(mark) ? -1 : this.value.indexOf(mark, i + width);
    while (close >= 0 && this.value[close + width] === '`') close = this.value.indexOf(mark, close + width + 1);
    if (close < 0) this.missing.add(mark);
    if (close < 0 || close + width > end) return this.options.open && end === this.value.length ? this.codeRun(i + width, end, end, put) : i;
    return this.codeRun(i + width, close, close + width, put);
  }

  private codeRun(from: number, to: number, next: number, put: (to: number, ...parts: Inline[]) => number): number {
    const raw = rawOf(this.text, from);
    return put(next, { kind: 'code', value: this.value.slice(from, to).replace(/\n/g, ' '), from: raw, to: raw + to - from });
  }

  private link(i: number, end: number, depth: number, put: (to: number, ...parts: Inline[]) => number): number {
    const { value } = this;
    const cite = this.options.cites ? at(CITE, value, i) : null;
    if (cite && i + cite[0].length <= end) {
      return put(i + cite[0].length, { kind: 'cite', numbers: cite[1]!.split(',').map(Number), at: rawOf(this.text, i) });
    }
    if (this.options.plain) return i;
    const wiki = at(WIKI, value, i);
    if (wiki && i + wiki[0].length <= end) {
      const label = wiki[2] ?? wiki[1]!;
      const start = i + wiki[0].lastIndexOf(label);
      return put(i + wiki[0].length, this.run(start, start + label.length));
    }
    const link = at(LINK, value, i);
    if (link && i + link[0].length <= end) {
      const label = i + link[0].indexOf('[') + 1;
      const children = depth < DEPTH_MAX ? this.scan(label, label + link[1]!.length, depth + 1) : [this.run(label, label + link[1]!.length)];
      // An image is never loaded: its description is shown.
      return put(i + link[0].length, ...(value[i] === '!' ? children : [{ kind: 'link' as const, href: link[2]!, children }]));
    }
    // The beginning of a link or citation that is still being written.
    if (this.options.open && end === value.length && /^!?\[[^\]\n]{0,80}(?:\](?:\([^)\s]{0,300})?)?$/.test(value.slice(i, i + 400)) && i + 400 > end) return put(end);
    return i;
  }

  private angle(i: number, end: number, put: (to: number, ...parts: Inline[]) => number): number {
    if (this.options.plain) return i;
    const br = at(BREAK, this.value, i);
    if (br) return put(i + br[0].length, { kind: 'break' });
    const link = at(AUTOLINK, this.value, i);
    if (!link || i + link[0].length > end) return i;
    return put(i + link[0].length, { kind: 'link', href: link[1]!, children: [this.run(i + 1, i + link[0].length - 1)] });
  }

  private emphasis(i: number, end: number, depth: number, put: (to: number, ...parts: Inline[]) => number): number {
    const { value } = this;
    const c = value[i]!;
    let width = 1;
    while (value[i + width] === c && width < 3) width++;
    if (depth >= DEPTH_MAX || (c === '~' && width !== 2)) return i;
    const inWord = /\w/.test(value[i - 1] ?? '');
    const mark = c.repeat(width);
    const body = i + width;
    if (/\s/.test(value[body] ?? ' ') || (inWord && (c === '_' || /\d/.test(value[body] ?? '')))) return i;
    const close = this.closing(mark, body, end);
    if (close < 0 && !(this.options.open && end === value.length && width > 1)) return i;
    const children = this.scan(body, close < 0 ? end : close, depth + 1);
    const part: Inline = c === '~' ? { kind: 'del', children }
      : width === 1 ? { kind: 'em', children }
      : width === 2 ? { kind: 'strong', children }
      : { kind: 'strong', children: [{ kind: 'em', children }] };
    return put(close < 0 ? end : close + width, part);
  }

  /** The mark that closes emphasis: after a character that is no space, and, for `_`, before the end of a word. */
  private closing(mark: string, from: number, end: number): number {
    if (this.missing.has(mark)) return -1;
    for (let i = this.value.indexOf(mark, from); i >= 0 && i + mark.length <= end; i = this.value.indexOf(mark, i + 1)) {
      const before = this.value[i - 1]!;
      const after = this.value[i + mark.length] ?? '';
      if (i === from || /\s|\\/.test(before)) continue;
      if (mark.length === 1 && (after === mark || before === mark)) {
        i += after === mark ? 1 : 0;
        continue;
      }
      if (mark[0] === '_' && /\w/.test(after)) continue;
      return i;
    }
    if (end === this.value.length) this.missing.add(mark);
    return -1;
  }
}

export const parseInline = (text: Mapped, options: InlineOptions): Inline[] => new Scanner(text, options).scan(0, text.value.length, 0);
