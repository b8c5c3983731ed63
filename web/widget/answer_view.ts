// Renders an answer: its blocks, its citations, and links to trusted hosts.

import { h, type Child } from './dom.ts';
import { LinkPolicy, webAddress } from './links.ts';
import { fill, type Locale } from './locale.ts';
import { honest, parseBlocks, type Block, type Inline, type ListBlock } from './markdown.ts';
import type { Citation } from './wire.ts';

/** The display name of a source: its title, or its address if it has none. */
const titleOf = ({ title, url }: Citation): string => honest(title).trim() || url;

export class AnswerView {
  readonly element = h('div', { class: 'prose', dir: 'auto' });
  private keys: string[] = [];
  private citations = new Map<number, Citation>();
  private policy = new LinkPolicy([]);

  private readonly locale: () => Locale;

  constructor(locale: () => Locale) {
    this.locale = locale;
  }

  /** Updates the element to show the answer. Only changed blocks are replaced, so focus and selection survive. */
  update(text: string, citations: readonly Citation[], language: string | undefined): void {
    if (language) this.element.lang = language;
    this.citations = new Map(citations.map((citation) => [citation.id, citation]));
    this.policy = new LinkPolicy([location.href, ...citations.map(({ url }) => url)]);
    const blocks = parseBlocks(text);
    const suffix = `${citations.length} ${this.locale().spoken}`;
    blocks.forEach((block, at) => {
      const key = JSON.stringify(block) + suffix;
      if (this.keys[at] === key) return;
      const fresh = this.block(block);
      const old = this.element.children[at];
      if (old) old.replaceWith(fresh);
      else this.element.append(fresh);
      this.keys[at] = key;
    });
    while (this.element.children.length > blocks.length) this.element.lastElementChild?.remove();
    this.keys.length = blocks.length;
  }

  private block(block: Block): HTMLElement {
    switch (block.kind) {
      case 'paragraph':
        return h('p', {}, ...this.inlines(block.children));
      case 'heading':
        return h('p', { class: 'heading' }, ...this.inlines(block.children));
      case 'quote':
        return h('blockquote', {}, ...this.inlines(block.children));
      case 'code':
        return h('pre', { tabindex: 0, dir: 'ltr' }, h('code', {}, block.text));
      case 'rule':
        return h('hr');
      case 'list':
        return this.list(block);
      case 'table':
        return h('div', { class: 'table', tabindex: 0 }, h('table', {},
          h('thead', {}, h('tr', {}, ...block.head.map((cell) => h('th', { scope: 'col' }, ...this.inlines(cell))))),
          h('tbody', {}, ...block.rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, ...this.inlines(cell))))))));
    }
  }

  private list({ ordered, start, items }: ListBlock): HTMLElement {
    return h(ordered ? 'ol' : 'ul', { start: ordered && start !== 1 ? start : null },
      ...items.map((item) => h('li', {}, ...this.inlines(item.children), ...item.lists.map((inner) => this.list(inner)))));
  }

  private inlines(nodes: Inline[]): Child[] {
    const out: Child[] = [];
    for (const node of nodes) {
      if (node.kind === 'cite') this.cling(out, node.ids.map((id) => this.cite(id)));
      else out.push(...this.inline(node));
    }
    return out;
  }

  private inline(node: Exclude<Inline, { kind: 'cite' }>): Child[] {
    switch (node.kind) {
      case 'text':
        return [node.text];
      case 'code':
        return [h('code', {}, node.text)];
      case 'strong':
      case 'em':
        return [h(node.kind, {}, ...this.inlines(node.children))];
      case 'break':
        return [h('br')];
      case 'link':
        return this.link(node.url, node.children);
    }
  }

  /** Attaches source numbers to the word before them: no space and no line break between. */
  private cling(out: Child[], numbers: HTMLElement[]): void {
    const last = out.at(-1);
    if (last instanceof HTMLElement && last.className === 'cling') return last.append(...numbers);
    if (typeof last !== 'string') {
      out.push(h('span', { class: 'cling' }, ...numbers));
      return;
    }
    const text = last.trimEnd();
    const word = /\S{1,24}$/.exec(text)?.[0] ?? '';
    out[out.length - 1] = text.slice(0, text.length - word.length);
    out.push(h('span', { class: 'cling' }, word, ...numbers));
  }

  /** A link if its host is trusted; otherwise its text and its address. */
  private link(url: string, label: Inline[]): Child[] {
    const children = this.inlines(label);
    const target = this.policy.target(url);
    if (target !== undefined) return [h('a', { ...linkTo(target), title: target }, ...children)];
    const same = label.length === 1 && label[0]?.kind === 'text' && label[0].text === url;
    return same || !webAddress(url) ? children : [...children, ` (${url})`];
  }

  /** A source number; it becomes a link with the source's name when the server sends the sources. */
  private cite(id: number): HTMLElement {
    const citation = this.citations.get(id);
    if (!citation) return h('span', { class: 'cite' }, String(id));
    const { words } = this.locale();
    const doubtful = citation.support === 'unsupported';
    const name = fill(words.source, { n: String(id), title: titleOf(citation) }) + (doubtful ? `, ${words.unconfirmed}` : '');
    const url = webAddress(citation.url);
    const properties = { class: doubtful ? 'cite doubtful' : 'cite', 'aria-label': name, title: name };
    return url ? h('a', { ...linkTo(url.href), ...properties }, String(id)) : h('span', { ...properties, role: 'img' }, String(id));
  }
}

/** Pages of this site open in the same tab, where the conversation continues; others in a new tab, without a referrer. */
export function linkTo(href: string): Record<string, string | null> {
  const here = webAddress(href)?.origin === location.origin;
  return { href, rel: here ? 'nofollow' : 'noopener noreferrer nofollow', target: here ? null : '_blank' };
}

/** The list of sources under an answer. */
export function sourceList(citations: readonly Citation[], locale: Locale): HTMLElement | null {
  const numbered = new Map<number, Citation[]>();
  for (const citation of citations) numbered.set(citation.id, [...(numbered.get(citation.id) ?? []), citation]);
  if (numbered.size === 0) return null;
  const { words } = locale;
  const rows = [...numbered].sort(([a], [b]) => a - b).map(([id, ranges]) => {
    const first = ranges[0] as Citation;
    const url = webAddress(first.url);
    const doubtful = ranges.every(({ support }) => support === 'unsupported');
    const passage = ranges.filter(({ start, end }) => start !== null && end !== null)
      .map(({ start, end }) => fill(words.passage, { start: String(start), end: String(end) })).join(', ');
    const away = url !== undefined && url.origin !== location.origin;
    const body: Child[] = [
      h('span', { class: 'number', 'aria-hidden': 'true' }, String(id)),
      h('span', { class: 'where' },
        h('span', { class: 'title', dir: 'auto' }, titleOf(first)),
        h('span', { class: 'place', dir: 'ltr' }, url ? placeOf(url) : ''),
        doubtful ? h('span', { class: 'doubt' }, words.unconfirmed) : null),
      away ? h('span', { class: 'hidden' }, words.newTab) : null,
    ];
    const properties = { class: 'source', title: passage || null, 'data-start': first.start, 'data-end': first.end };
    return h('li', {}, url ? h('a', { ...linkTo(url.href), ...properties }, ...body) : h('div', properties, ...body));
  });
  return h('div', { class: 'sources' }, h('p', { class: 'label' }, words.sources), h('ol', {}, ...rows));
}

/** Host and path, so that visitors see where a source leads. */
function placeOf(url: URL): string {
  let path = url.pathname.replace(/\/$/, '');
  try {
    path = decodeURI(path);
  } catch {
    // Not UTF-8: keep the escapes.
  }
  return url.origin === location.origin ? path || '/' : url.host.replace(/^www\./, '') + path;
}
