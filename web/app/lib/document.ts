// Finds the cited places in a document's text.

import { codeUnits, foldSpaces } from './text.ts';

const WHOLE_CHARS = 200_000; // longer documents first show the part around the passage
const EXCERPT_CHARS = 30_000; // on each side of it

/** The place of a quotation, as [from, to) code units; null if the text does not hold it. */
export function locateQuote(text: string, start: number, end: number, quote: string): { from: number; to: number } | null {
  const [from, to] = codeUnits(text, [start, end]);
  const there = text.slice(from, to);
  if (there !== '' && (!quote || foldSpaces(there) === foldSpaces(quote))) return { from: from!, to: to! };
  const at = quote ? text.indexOf(quote) : -1;
  return at < 0 ? null : { from: at, to: at + quote.length };
}

/** The passage whose first words, ignoring white space, are `snippet`; null if not found. */
export function locateSnippet(text: string, snippet: string): { from: number; to: number } | null {
  const words = foldSpaces(snippet).split(' ').slice(0, 60);
  if (words.length < 4) return null;
  words.pop(); // the last word may be cut
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')).join('\\s+');
  const match = new RegExp(pattern).exec(text);
  return match && { from: match.index, to: match.index + match[0].length };
}

/** The part of a long document to show: whole paragraphs around `center`. */
export function excerpt(text: string, center: number, whole: boolean): { from: number; to: number } {
  if (whole || text.length <= WHOLE_CHARS) return { from: 0, to: text.length };
  const before = text.lastIndexOf('\n\n', Math.max(0, center - EXCERPT_CHARS));
  const after = text.indexOf('\n\n', Math.min(text.length, center + EXCERPT_CHARS));
  return { from: before < 0 ? 0 : before + 2, to: after < 0 ? text.length : after };
}
