// Reads the content of the visitor's page, for questions about it. User input is never read.

import { webAddress } from './links.ts';
import type { PageContext } from './wire.ts';

export const JSON_LD_BYTES_MAX = 4000;
const LINE_CHARS_MAX = 300;
const HEADINGS_MAX = 12;
const TEXT_CHARS_MAX = 8000;
const NODES_MAX = 20_000;

const OG_KEYS = ['title', 'type', 'site_name', 'description', 'price:amount', 'price:currency', 'availability', 'brand'];

/** Never read: navigation, code, media, and everything that visitors fill in. */
const SKIPPED = 'nav,script,style,noscript,template,svg,canvas,iframe,object,video,audio,picture,form,input,textarea,select,option,button,' +
  'datalist,output,dialog,[hidden],[inert],[aria-hidden="true"],[contenteditable],[role="navigation"],[role="dialog"],[role="textbox"],' +
  '[role="search"],[data-footnote-ignore],footnote-widget';
const OUTSIDE_MAIN = 'header,footer,aside,[role="banner"],[role="contentinfo"],[role="complementary"]';
const BLOCK = /^(?:block|flex|grid|list-item|table|table-row|table-cell|flow-root)$/;

const encoder = new TextEncoder();
export const jsonBytes = (value: unknown): number => encoder.encode(JSON.stringify(value)).length;
const folded = (text: string | null | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim();

/** The first `count` characters, without splitting one. */
export function cut(text: string, count: number): string {
  const part = text.slice(0, Math.max(0, count));
  return /[\uD800-\uDBFF]$/.test(part) ? part.slice(0, -1) : part;
}

/** Shortens the context to `bytesMax` of JSON: first the visible text, then JSON-LD, headings, the rest; finally the whole context. */
export function fit(context: PageContext, bytesMax: number): PageContext | undefined {
  const { visible_text: text = '', ...rest } = context;
  const room = bytesMax - jsonBytes({ ...rest, visible_text: '' });
  if (room >= 0) {
    // The longest prefix that fits; escapes and non-ASCII letters take several bytes.
    let [low, high] = [0, Math.min(text.length, room)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (jsonBytes(cut(text, middle)) - 2 <= room) low = middle;
      else high = middle - 1;
    }
    const kept = cut(text, low);
    return kept === '' ? rest : { ...rest, visible_text: kept };
  }
  for (const name of ['json_ld', 'h2', 'og', 'h1', 'description', 'title'] as const) {
    if (!(name in rest)) continue;
    const { [name]: _, ...less } = context;
    return fit(less, bytesMax);
  }
  return jsonBytes(rest) <= bytesMax ? rest : undefined;
}

/** JSON-LD blocks as one text of at most `bytesMax`. Only complete blocks: half a block is not valid JSON. */
export function joinJsonLd(blocks: string[], bytesMax = JSON_LD_BYTES_MAX): string {
  const kept: string[] = [];
  let size = 0;
  for (const block of blocks) {
    let text: string;
    try {
      text = JSON.stringify(JSON.parse(block));
    } catch {
      continue;
    }
    const bytes = encoder.encode(text).length + 1;
    if (size + bytes > bytesMax) continue;
    size += bytes;
    kept.push(text);
  }
  return kept.join('\n');
}

/** The canonical URL if it belongs to this site, otherwise the address without the fragment. */
export function pageUrl(page: Document, place: Location): string {
  const canonical = page.querySelector<HTMLLinkElement>('link[rel="canonical"]')?.href;
  if (canonical && webAddress(canonical)?.origin === place.origin) return canonical.split('#')[0] ?? canonical;
  return `${place.origin}${place.pathname}${place.search}`;
}

const meta = (page: Document, name: string): string =>
  cut(folded(page.querySelector(`meta[name="${name}"],meta[property="${name}"]`)?.getAttribute('content')), LINE_CHARS_MAX);

function headings(page: Document, tag: string): string[] {
  const out: string[] = [];
  for (const heading of page.querySelectorAll(tag)) {
    const text = heading.closest(SKIPPED) ? '' : cut(folded(heading.textContent), LINE_CHARS_MAX);
    if (text !== '') out.push(text);
    if (out.length === HEADINGS_MAX) break;
  }
  return out;
}

/** The visible text, one line per block. */
export function visibleText(page: Document): string {
  const main = page.querySelector('main,[role="main"]') ?? page.querySelector('article');
  const root = main ?? page.body;
  if (!root) return '';
  const skipped = main ? SKIPPED : `${SKIPPED},${OUTSIDE_MAIN}`;
  let out = '';
  let nodes = 0;
  const walk = (element: Element): void => {
    if (element.matches(skipped)) return;
    const style = getComputedStyle(element);
    if (style.display === 'none' || style.visibility !== 'visible' || style.opacity === '0') return;
    const block = BLOCK.test(style.display);
    if (block) out += '\n';
    for (const child of element.childNodes) {
      if (out.length > TEXT_CHARS_MAX || ++nodes > NODES_MAX) return;
      if (child instanceof Text) out += child.data.replace(/\s+/g, ' ');
      else if (child instanceof Element) walk(child);
    }
    if (block) out += '\n';
  };
  walk(root);
  return cut(out.replace(/ {2,}/g, ' ').replace(/ ?\n[\n ]*/g, '\n').trim(), TEXT_CHARS_MAX);
}

/** The complete context within `bytesMax`. Reading a page must never break it: on any error there is no context. */
export function readPage(page: Document, place: Location, bytesMax: number): PageContext | undefined {
  try {
    const og: Record<string, string> = {};
    for (const key of OG_KEYS) {
      const value = meta(page, `og:${key}`) || meta(page, `product:${key}`);
      if (value) og[key] = value;
    }
    const jsonLd = joinJsonLd([...page.querySelectorAll('script[type="application/ld+json"]')].map((script) => script.textContent ?? ''));
    const full = {
      title: cut(folded(page.title), LINE_CHARS_MAX), description: meta(page, 'description'), og, json_ld: jsonLd,
      h1: headings(page, 'h1'), h2: headings(page, 'h2'), visible_text: visibleText(page),
    };
    const said = Object.entries(full).filter(([, value]) => (typeof value === 'object' ? Object.keys(value).length > 0 : value !== ''));
    return fit({ url: pageUrl(page, place), ...Object.fromEntries(said) }, bytesMax);
  } catch {
    return undefined;
  }
}
