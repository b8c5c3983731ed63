// Shows Markdown as React elements. Text is only ever text: no HTML is made from it, no image is loaded, and only links to hosts of the
// sources can be followed.

import { createContext, Fragment, memo, useContext, useMemo, useRef, type ReactNode } from 'react';
import { parseInline, type Inline } from '../lib/inline';
import { allowedLink } from '../lib/links';
import { parseMarkdown, type Block } from '../lib/markdown';
import type { Mapped } from '../lib/text';
import { CopyButton } from './controls';

/** A range of the text that is marked, in code units. */
export interface MarkedRange {
  from: number;
  to: number;
  tone: 'active' | 'other' | 'passage';
}

export interface Reading {
  hosts: ReadonlySet<string>;
  marks: MarkedRange[];
  /** What stands for the citations `[n]` at this place; null if there is no such source: then they stay text. */
  cite: ((numbers: number[], at: number) => ReactNode) | null;
  plain?: boolean;
}

const NO_HOSTS: ReadonlySet<string> = new Set();
const ReadingContext = createContext<Reading>({ hosts: NO_HOSTS, marks: [], cite: null });

/** A run of text; `data-at` is its place, by which sentences are found again (lib/highlight.ts). */
function Run({ value, from, to }: { value: string; from: number; to: number }) {
  const { marks } = useContext(ReadingContext);
  const inside = marks.filter((mark) => mark.from < to && mark.to > from);
  if (inside.length === 0 || value.length !== to - from) {
    const whole = inside.find((mark) => mark.tone === 'active') ?? inside[0];
    return whole ? <mark className={whole.tone}>{value}</mark> : <span data-at={from}>{value}</span>;
  }
  const edges = new Set([from, to]);
  for (const mark of inside) edges.add(Math.max(from, mark.from)).add(Math.min(to, mark.to));
  const sorted = [...edges].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((start, i) => {
    const end = sorted[i + 1]!;
    const covering = inside.filter((mark) => mark.from <= start && mark.to >= end);
    const mark = covering.find((candidate) => candidate.tone === 'active') ?? covering[0];
    const piece = value.slice(start - from, end - from);
    return mark ? <mark key={start} className={mark.tone}>{piece}</mark> : <span key={start}>{piece}</span>;
  });
}

function InlineView({ part }: { part: Inline }): ReactNode {
  const reading = useContext(ReadingContext);
  switch (part.kind) {
    case 'text':
      return <Run {...part} />;
    case 'code':
      return <code><Run {...part} /></code>;
    case 'break':
      return <br />;
    case 'cite': {
      const shown = reading.cite?.(part.numbers, part.at);
      return shown ?? `[${part.numbers.join(', ')}]`;
    }
    case 'link': {
      const href = allowedLink(part.href, reading.hosts);
      const label = <Inlines parts={part.children} />;
      if (href) return <a href={href} target="_blank" rel="noopener noreferrer nofollow">{label}</a>;
      const isAddress = part.children.length === 1 && part.children[0]!.kind === 'text' && part.children[0]!.value === part.href;
      return isAddress || !/^https?:/i.test(part.href) ? label : <>{label} <span className="address">({part.href})</span></>;
    }
    case 'del':
      return <s><Inlines parts={part.children} /></s>;
    case 'em':
      return <em><Inlines parts={part.children} /></em>;
    case 'strong':
      return <strong><Inlines parts={part.children} /></strong>;
  }
}

const WORD_CHARS_MAX = 24; // a longer last word may be separated from its citation

/** A citation follows its word directly: no space and no line break between them. */
function Inlines({ parts }: { parts: Inline[] }) {
  const out: ReactNode[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const isSpace = (candidate: Inline | undefined) => candidate?.kind === 'text' && candidate.value.trim() === '';
    let end = i + 1; // the citations that follow, with the spaces between them
    while (parts[end]?.kind === 'cite' || (isSpace(parts[end]) && parts[end + 1]?.kind === 'cite')) end++;
    const cites = parts.slice(i + 1, end).filter(({ kind }) => kind === 'cite');
    if (cites.length === 0 || (part.kind !== 'text' && part.kind !== 'cite')) {
      out.push(<InlineView key={i} part={part} />);
      continue;
    }
    const value = part.kind === 'text' ? part.value.trimEnd() : '';
    const word = /\S*$/.exec(value)![0].slice(-WORD_CHARS_MAX);
    if (part.kind === 'text' && value.length > word.length) {
      out.push(<Run key={i} value={value.slice(0, -word.length || undefined)} from={part.from} to={part.from + value.length - word.length} />);
    }
    const from = part.kind === 'text' ? part.from + value.length - word.length : 0;
    out.push(
      <span key={`${i}c`} className="cling">
        {part.kind === 'cite' && <InlineView part={part} />}
        {word && <Run value={word} from={from} to={from + word.length} />}
        {cites.map((cite, n) => <InlineView key={n} part={cite} />)}
      </span>,
    );
    i = end - 1;
  }
  return out;
}

function Line({ text, open }: { text: Mapped; open: boolean }) {
  const { cite, plain } = useContext(ReadingContext);
  const parts = useMemo(() => parseInline(text, { cites: cite !== null, open, plain }), [text, cite, open, plain]);
  return <Inlines parts={parts} />;
}

function CodeBlock({ block }: { block: Extract<Block, { kind: 'code' }> }) {
  const { value, pieces } = block.text;
  const lines = value.split('\n');
  return (
    <figure className="code">
      <figcaption><span>{block.language || 'code'}</span><CopyButton label="Copy" text={() => value} /></figcaption>
      <pre tabIndex={0}><code>{lines.map((line, i) => {
        const from = pieces[i]?.raw ?? block.from;
        return <Fragment key={i}><Run value={line} from={from} to={from + line.length} />{i + 1 < lines.length && '\n'}</Fragment>;
      })}</code></pre>
    </figure>
  );
}

function TableBlock({ block, open }: { block: Extract<Block, { kind: 'table' }>; open: boolean }) {
  const cell = (text: Mapped, i: number, head: boolean) => {
    const Tag = head ? 'th' : 'td';
    return <Tag key={i} data-align={block.align[i]} scope={head ? 'col' : undefined}><Line text={text} open={open} /></Tag>;
  };
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead><tr>{block.head.map((text, i) => cell(text, i, true))}</tr></thead>
        <tbody>{block.rows.map((row, r) => <tr key={r}>{row.map((text, i) => cell(text, i, false))}</tr>)}</tbody>
      </table>
    </div>
  );
}

function BlockView({ block, open }: { block: Block; open: boolean }): ReactNode {
  switch (block.kind) {
    case 'heading':
      return <p className="md-heading" data-level={block.level} role="heading" aria-level={3}><Line text={block.text} open={open} /></p>;
    case 'rule':
      return <hr />;
    case 'code':
      return <CodeBlock block={block} />;
    case 'table':
      return <TableBlock block={block} open={open} />;
    case 'quote':
      return <blockquote><BlockList blocks={block.blocks} open={open} /></blockquote>;
    case 'list': {
      const items = block.items.map((item, i) => {
        const only = item.blocks.length === 1 && item.blocks[0]!.kind === 'paragraph' ? item.blocks[0] : null;
        const last = open && i === block.items.length - 1;
        return <li key={i}>{only ? <Line text={only.text} open={last} /> : <BlockList blocks={item.blocks} open={last} />}</li>;
      });
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case 'paragraph':
      return <p><Line text={block.text} open={open} /></p>;
  }
}

export const BlockList = ({ blocks, open }: { blocks: Block[]; open: boolean }) =>
  blocks.map((block, i) => <BlockView key={i} block={block} open={open && i === blocks.length - 1} />);

/** One block of a longer text. It is drawn again only if its own text changes, so a long answer streams as cheaply as a short one. */
const Piece = memo(function Piece({ text, base, open }: { text: string; base: number; open: boolean }) {
  const blocks = useMemo(() => parseMarkdown(text, base), [text, base]);
  return <BlockList blocks={blocks} open={open} />;
});

interface Places {
  text: string;
  list: { from: number; to: number }[];
}

/** Where the blocks of a text are. What was appended can only change the last of them, so the others are not read again. */
function placesOf(text: string, before: Places): Places {
  const kept = before.text !== '' && text.startsWith(before.text) ? before.list.slice(0, -1) : [];
  const from = kept.length > 0 ? before.list[kept.length]!.from : 0;
  return { text, list: [...kept, ...parseMarkdown(text.slice(from), from).map((block) => ({ from: block.from, to: block.to }))] };
}

/** A text in Markdown. `open`: more is to come, so marks that are not yet closed are no text. */
export function Markdown({ text, base = 0, open, reading }: { text: string; base?: number; open: boolean; reading: Reading }) {
  const before = useRef<Places>({ text: '', list: [] });
  const { list: places } = useMemo(() => (before.current = placesOf(text, before.current)), [text]);
  return (
    <ReadingContext value={reading}>
      {places.map(({ from, to }, i) => <Piece key={i} text={text.slice(from, to)} base={base + from} open={open && i === places.length - 1} />)}
    </ReadingContext>
  );
}

export const Blocks = ({ blocks, reading }: { blocks: Block[]; reading: Reading }) => (
  <ReadingContext value={reading}><BlockList blocks={blocks} open={false} /></ReadingContext>
);
