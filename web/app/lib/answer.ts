// An answer as the page shows it, read from a message of the AI SDK: what streams in and what is loaded have the same parts.

import type { UIMessage } from 'ai';
import { codeUnits } from './text.ts';
import { asFields, asList, asNumber, asText, asTexts, either, readCheck, readCitation, readRefusal, readSource, type Check, type Citation,
  type Fields, type Refusal, type Source } from './wire.ts';

export type Message = UIMessage<Fields>;

/** A citation or check with its sentence as [from, to) in code units of the answer. */
export type Placed<T> = T & { from: number; to: number };

export interface Usage {
  prompt: number;
  completion: number;
  estimated: boolean;
  cost: number | null;
  currency: string;
}

export interface AnswerView {
  text: string;
  sources: Map<number, Source>;
  citations: Placed<Citation>[];
  checks: Placed<Check>[];
  confidence: { value: number | null; tier: string } | null;
  refusal: Refusal | null;
  followups: string[];
  replaced: string; // why an answer was withdrawn; empty if it was not
  turnId: string;
  model: string;
  latencyMs: number | null;
  usage: Usage | null;
  tentative: boolean;
  partial: boolean; // stopped before its end
  quoted: boolean; // made of quotations alone, without a language model
}

function readUsage(meta: Fields): Usage | null {
  const usage = asFields(meta.usage);
  const prompt = asNumber(either(usage, 'promptTokens')) ?? asNumber(either(usage, 'inputTokens'));
  const completion = asNumber(either(usage, 'completionTokens')) ?? asNumber(either(usage, 'outputTokens'));
  if ((prompt ?? 0) + (completion ?? 0) === 0) return null; // no language model was asked
  const cost = usage.cost ?? meta.cost;
  return {
    prompt: prompt ?? 0,
    completion: completion ?? 0,
    estimated: usage.estimated === true,
    cost: asNumber(cost) ?? asNumber(asFields(cost).amount) ?? asNumber(either(usage, 'costUsd')) ?? asNumber(either(meta, 'costUsd')),
    currency: asText(asFields(cost).currency) || asText(usage.currency) || 'USD',
  };
}

export const textOf = (message: Message): string =>
  message.parts.map((part) => (part.type === 'text' ? part.text : '')).filter(Boolean).join('\n\n');

const place = <T extends { answerStart: number; answerEnd: number }>(text: string, item: T): Placed<T> => {
  const [from, to] = codeUnits(text, [item.answerStart, item.answerEnd]);
  return { ...item, from: from!, to: to! };
};

const WITHDRAWALS: Record<string, string> = {
  loop: 'it went round in circles', echo: 'it repeated what it was given', empty: 'it said nothing', uncited: 'it named no sources', unsupported: 'its sources did not support it',
};

const withdrawal = (reason: unknown): string => (asText(reason) ? WITHDRAWALS[asText(reason)] ?? WITHDRAWALS.unsupported! : '');

const cache = new WeakMap<Message, AnswerView>();

export function readAnswer(message: Message): AnswerView {
  const known = cache.get(message);
  if (known) return known;
  const meta = asFields(message.metadata);
  const view: AnswerView = {
    text: '', sources: new Map(), citations: [], checks: [], confidence: null, refusal: null, followups: [], replaced: withdrawal(meta.fallback),
    turnId: asText(either(meta, 'turnId')) || message.id, model: asText(meta.model), latencyMs: asNumber(either(meta, 'latencyMs')),
    usage: readUsage(meta), tentative: meta.tentative === true,
    partial: meta.partial === true, quoted: meta.model === null,
  };
  let citations: Fields[] = [];
  const checks: Fields[] = [];
  for (const part of message.parts) {
    const data = 'data' in part ? part.data : undefined;
    switch (part.type) {
      case 'text':
        view.text += view.text && part.text ? `\n\n${part.text}` : part.text;
        break;
      case 'source-url': {
        const own = asFields(asFields(part.providerMetadata).footnote);
        const source = readSource({ ...own, title: part.title, url: /^https?:/i.test(part.url) ? part.url : '' }, asNumber(own.number) ?? Number(part.sourceId));
        if (Number.isInteger(source.number)) view.sources.set(source.number, source);
        break;
      }
      case 'data-citations':
        citations = asList(data);
        break;
      case 'data-check':
        checks.push(asFields(data));
        break;
      case 'data-confidence':
        view.confidence = { value: asNumber(asFields(data).confidence), tier: asText(asFields(data).tier) };
        break;
      case 'data-refusal':
        view.refusal = readRefusal(asFields(data));
        break;
      case 'data-followups':
        view.followups = asTexts(Array.isArray(data) ? data : asFields(data).questions);
        break;
      case 'data-replace':
        // What was written before is withdrawn; sources and text that follow stand instead.
        Object.assign(view, { text: '', sources: new Map(), replaced: withdrawal(asFields(data).reason) });
        checks.length = 0;
        break;
    }
  }
  view.citations = citations.map((fields) => place(view.text, readCitation(fields)));
  view.checks = checks.map((fields) => place(view.text, readCheck(fields)));
  cache.set(message, view);
  return view;
}

/** Unsupported sentences: those whose sources do not support them, and statements without a source. */
export const doubtful = (view: AnswerView) => view.checks.filter(({ support }) => support === 'unsupported' || support === 'uncited');

/** The citations that are bound to a sentence of this source. */
export const marksOf = (view: AnswerView, number: number) =>
  view.citations.filter((citation) => citation.number === number && citation.sourceEnd > citation.sourceStart);

/** The citation of the mark at `position` in the answer's text. */
export function markAt(view: AnswerView, number: number, position: number): Placed<Citation> | null {
  const distance = (mark: Placed<Citation>) => Math.abs(mark.to - position) + (mark.from > position ? 1e6 : 0);
  let best: Placed<Citation> | null = null;
  for (const mark of view.citations) {
    if (mark.number === number && (!best || distance(mark) < distance(best))) best = mark;
  }
  return best;
}

/** Numbers of the cited sources, in order. */
export function citedNumbers(view: AnswerView): number[] {
  const cited = new Set<number>();
  for (const match of view.text.matchAll(/\[(\d{1,3}(?:\s*,\s*\d{1,3}){0,19})\](?!\()/g)) {
    for (const number of match[1]!.split(',').map(Number)) if (view.sources.has(number)) cited.add(number);
  }
  return [...cited].sort((a, b) => a - b);
}

/** A part of an answer made of quotations: one passage of one source, without its mark. */
export interface Quotation {
  number: number;
  mark: Placed<Citation>;
  from: number;
  text: string;
  brief: boolean; // the answer in a few words, before the passage that it comes from
}

/** The quotations that an answer is made of; empty if it is not. */
export function quotations(view: AnswerView): Quotation[] {
  if (!view.quoted || view.refusal) return [];
  const starts = [...view.citations].sort((a, b) => a.from - b.from);
  const out: Quotation[] = [];
  for (const [i, mark] of starts.entries()) {
    if (i > 0 && mark.from < starts[i - 1]!.to) return [];
    const from = i === 0 ? 0 : mark.from;
    const whole = view.text.slice(from, starts[i + 1]?.from ?? view.text.length);
    const text = whole.trimEnd().replace(/\s*\[\d{1,3}\]$/, '');
    if (/\[\d{1,3}\](?!\()/.test(text)) return []; // more marks than quotations: show it as it is
    out.push({ number: mark.number, mark, from, text, brief: starts.length > 1 && i === 0 && text.length <= 160 && !text.includes('\n') && !text.startsWith('**') });
  }
  return out;
}
