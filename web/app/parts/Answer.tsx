// The answer of a turn: its text with citations, its outcome, its sources, and what can be done with it.

import { memo, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { citedNumbers, doubtful, markAt, marksOf, quotations, type AnswerView, type Placed, type Quotation } from '../lib/answer';
import { rateTurn, reportGap, ServerError } from '../lib/api';
import { rangesOf, setHighlight } from '../lib/highlight';
import { hostsOf } from '../lib/links';
import { plural } from '../lib/text';
import { trail, type Citation, type Source } from '../lib/wire';
import { CopyButton, IconButton } from './controls';
import { HoverCard, type Hovered } from './HoverCard';
import { Markdown, type Reading } from './Markdown';
import type { OpenSource } from './SourcePanel';

const TIERS: Record<string, string> = { high: 'High confidence', moderate: 'Moderate confidence', low: 'Low confidence' };

export interface AnswerActions {
  openSource: (open: OpenSource) => void;
  ask: (question: string) => void;
  regenerate: () => void;
  link: () => string;
}

export interface AnswerProps {
  view: AnswerView;
  question: string;
  streaming: boolean;
  stopped: boolean;
  isLast: boolean;
  busy: boolean;
  project: string;
  feedback: { rating: string; comment: string } | null;
  branch: ReactNode;
  actions: AnswerActions;
}

const MARK_LABELS: Record<string, string> = { supported: 'checked', unsupported: 'not confirmed by this source', unchecked: 'not checked' };

/** The numbered chip of a citation. */
function Chip({ view, source, at, onOpen, onHover }: {
  view: AnswerView; source: Source; at: number; onOpen: (source: Source, mark: Placed<Citation> | null, opener: HTMLElement) => void;
  onHover: (hovered: Hovered | null) => void;
}) {
  const mark = markAt(view, source.number, at);
  const support = mark?.support ?? 'unchecked';
  const hover = (element: HTMLElement) => onHover({ source, mark, anchor: element });
  return (
    <button type="button" className="cite" data-number={source.number} data-support={support} aria-haspopup="dialog"
      aria-label={`Source ${source.number}: ${source.title}, ${source.path}${mark ? ` (${MARK_LABELS[support] ?? support})` : ''}`}
      onClick={(event) => onOpen(source, mark, event.currentTarget)}
      onPointerEnter={(event) => event.pointerType === 'mouse' && hover(event.currentTarget)} onPointerLeave={() => onHover(null)}
      onFocus={(event) => event.currentTarget.matches(':focus-visible') && hover(event.currentTarget)} onBlur={() => onHover(null)}>
      {source.number}{support === 'unsupported' && '?'}
    </button>
  );
}

function Quoted({ item, view, reading, open, chip }: { item: Quotation; view: AnswerView; reading: Reading; open: () => void; chip: ReactNode }) {
  const source = view.sources.get(item.number);
  if (item.brief) return <div className="brief"><Markdown text={item.text} base={item.from} open={false} reading={reading} />{chip}</div>;
  const heading = /^\*\*([^*\n]+?):?\*\*/.exec(item.text.trimStart())?.[1] ?? '';
  const where = source ? trail(source).split(' › ').filter((part) => part && part !== heading).join(' › ') : '';
  return (
    <figure className="quotation">
      <blockquote><Markdown text={item.text} base={item.from} open={false} reading={reading} /></blockquote>
      {source && (
        <figcaption>
          {chip}<button type="button" className="caption-link" onClick={open} dir="auto">{source.title}</button>
          {where && <span className="note-trail" dir="auto">{where}</span>}
          {item.mark.place && <span className="note-path">{item.mark.place}</span>}
        </figcaption>
      )}
    </figure>
  );
}

function Note({ source, onOpen }: { source: Source; onOpen: (opener: HTMLElement) => void }) {
  const where = trail(source);
  return (
    <li>
      <button type="button" className="note" aria-haspopup="dialog" onClick={(event) => onOpen(event.currentTarget)}>
        <span className="note-number"><span className="visually-hidden">Source </span>{source.number}</span>
        <span className="note-body">
          <span className="note-title" dir="auto">{source.title}</span>
          {where && <span className="note-trail" dir="auto">{where}</span>}
          <span className="note-path">{source.path}</span>
          {source.tier && <span className="tag">{source.tier.replace(/_/g, ' ')}</span>}
          {source.origin && source.origin !== 'primary' && source.origin !== 'retrieved' && <span className="tag">{source.origin.replace(/_/g, ' ')}</span>}
        </span>
      </button>
    </li>
  );
}

function Confidence({ view }: { view: AnswerView }) {
  const { confidence } = view;
  if (!confidence || confidence.value === null) return null;
  return (
    <span className="confidence" data-tier={confidence.tier} title={`${confidence.value} of 100`}>
      <meter className="visually-hidden" min={0} max={100} value={confidence.value} aria-label="Confidence" />
      <span className="bars" aria-hidden="true"><i /><i data-on={confidence.value >= 50 || undefined} /><i data-on={confidence.value >= 80 || undefined} /></span>
      {TIERS[confidence.tier] ?? 'Confidence'}
    </span>
  );
}

const money = (cost: number, currency: string) =>
  new Intl.NumberFormat('en', { style: 'currency', currency: /^[A-Z]{3}$/.test(currency) ? currency : 'USD', minimumFractionDigits: 2, maximumFractionDigits: cost < 0.01 ? 5 : 3 }).format(cost);

/** "1,204 tokens · $0.0021". */
export function meterText(usage: { prompt: number; completion: number; estimated: boolean; cost: number | null; currency: string }): string {
  const tokens = `${usage.estimated ? 'about ' : ''}${plural(usage.prompt + usage.completion, 'token', 'tokens')}`;
  return usage.cost === null ? tokens : `${tokens} · ${money(usage.cost, usage.currency)}`;
}

function Doubts({ view }: { view: AnswerView }) {
  const doubts = doubtful(view);
  if (doubts.length === 0) return null;
  const sources = (numbers: number[]) => (numbers.length === 1 ? `source ${numbers[0]} does` : `sources ${numbers.join(', ')} do`);
  return (
    <details className="doubts">
      <summary>{plural(doubts.length, 'sentence is', 'sentences are')} not supported by a source</summary>
      <ul>{doubts.map((doubt, i) => (
        <li key={i}><q dir="auto">{view.text.slice(doubt.from, doubt.to).replace(/\s*\[[\d, ]+\]/g, '').replace(/[*`#|]/g, '').trim()}</q>
          <span className="doubt-reason">{doubt.support === 'uncited' ? 'names no source' : `${sources(doubt.numbers)} not say this`}</span></li>
      ))}</ul>
    </details>
  );
}

const REFUSALS: Record<string, string> = {
  no_relevant_context: 'Nothing that was found is close enough to rest an answer on.',
  llm_self_refusal: 'Passages were found, but they do not say what was asked.',
  blocked_by_guardrails: 'The question, or the answer to it, is outside what this knowledge base may say.',
  language_not_covered: 'Neither the documents nor the search model cover the language of this question.',
};

/** The beginning of a passage without Markdown and without its own heading. */
function passageStart({ snippet, title, headings }: Source): string {
  let text = snippet.replace(/\[([^\]\n]+)\]\([^)\s]*\)/g, '$1').replace(/(^|\s)#{1,6}\s+/g, '$1').replace(/(?:\s*\|?\s*:?-{3,}:?)+/g, ' ').replace(/[*`|]/g, '').trim();
  for (const heading of [title, ...headings]) if (heading && text.startsWith(heading)) text = text.slice(heading.length).trim();
  return text;
}

/** A refusal says what was close, what to try, and takes the question as a gap. */
function RefusalView({ view, question, project, actions, onOpen }: {
  view: AnswerView; question: string; project: string; actions: AnswerActions; onOpen: (source: Source, opener: HTMLElement) => void;
}) {
  const refusal = view.refusal!;
  const [gap, setGap] = useState<'open' | 'sending' | 'noted' | string>('open');
  const explanation = REFUSALS[refusal.reason] ?? '';
  const report = async () => {
    setGap('sending');
    try {
      await reportGap(question, project);
      setGap('noted');
    } catch (cause) {
      setGap(cause instanceof ServerError ? cause.message : 'That did not work.');
    }
  };
  const nearest = refusal.nearest.filter((near, i) => refusal.nearest.findIndex((other) => other.documentId === near.documentId && trail(other) === trail(near)) === i);
  return (
    <div className="refusal" role="group" aria-label="No answer">
      <h3 dir="auto">{refusal.body || view.text}</h3>
      {(explanation || refusal.hint) && <p className="refusal-hint">{explanation} {refusal.hint}</p>}
      {nearest.length > 0 && (
        <>
          <h4>Closest matches</h4>
          <ul className="nearest">{nearest.slice(0, 4).map((near, i) => (
            <li key={i}>
              <button type="button" className="near" aria-haspopup="dialog" onClick={(event) => onOpen(near, event.currentTarget)}>
                <span className="near-title" dir="auto">{near.title}</span>
                <span className="near-snippet" dir="auto">{passageStart(near)}</span>
              </button>
            </li>
          ))}</ul>
        </>
      )}
      {view.followups.length > 0 && (
        <>
          <h4>What the documents do cover</h4>
          <ul className="followups">{view.followups.map((next) => <li key={next}><button type="button" className="followup" onClick={() => actions.ask(next)} dir="auto">{next}</button></li>)}</ul>
        </>
      )}
      {refusal.reason !== 'blocked_by_guardrails' && (
        <p className="gap" role="status">
          {gap === 'noted' ? 'Noted as a gap: whoever looks after the documents will see it.'
            : <><button type="button" className="button button-small" disabled={gap === 'sending'} onClick={report}>This should be known</button>
              {gap !== 'open' && gap !== 'sending' && <span className="gap-error">{gap}</span>}</>}
        </p>
      )}
    </div>
  );
}

function FeedbackButtons({ turn, given }: { turn: string; given: { rating: string; comment: string } | null }) {
  const [rating, setRating] = useState(given?.rating ?? '');
  const [asked, setAsked] = useState(false);
  const [comment, setComment] = useState('');
  const [said, setSaid] = useState('');
  const field = useId();
  useEffect(() => setRating(given?.rating ?? ''), [given, turn]);
  const rate = async (value: string, text = '') => {
    const before = rating;
    const next = value === rating && !text ? '' : value;
    setRating(next);
    setAsked(next === 'down' && !text);
    try {
      await rateTurn(turn, next || null, text);
      setSaid(next === '' ? 'Taken back' : text ? 'Thank you' : '');
    } catch (cause) {
      setRating(before);
      setSaid(cause instanceof ServerError ? cause.message : 'That did not work.');
    }
  };
  return (
    <>
      <IconButton icon="good" label="Good answer" pressed={rating === 'up'} onClick={() => rate('up')} />
      <IconButton icon="bad" label="Bad answer" pressed={rating === 'down'} onClick={() => rate('down')} />
      <span className="said-inline" role="status">{said}</span>
      {asked && (
        <form className="comment" onSubmit={(event) => { event.preventDefault(); if (comment.trim()) void rate('down', comment.trim()); }}>
          <label htmlFor={field}>What was wrong with it?</label>
          <input id={field} value={comment} maxLength={1000} onChange={(event) => setComment(event.target.value)} autoFocus />
          <button type="submit" className="button button-small">Send</button>
          <button type="button" className="link-button" onClick={() => setAsked(false)}>No comment</button>
        </form>
      )}
    </>
  );
}

export const Answer = memo(function Answer({ view, question, streaming, stopped, isLast, busy, project, feedback, branch, actions }: AnswerProps) {
  const prose = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const owner = useRef({});
  const hosts = useMemo(() => hostsOf([...view.sources.values()].map((source) => source.url)), [view.sources.size]);
  const open = useCallback((source: Source, active: Placed<Citation> | null, opener: HTMLElement) => {
    setHovered(null);
    actions.openSource({ source, active, opener, hosts, marks: source.number > 0 ? marksOf(view, source.number) : [] });
  }, [view, hosts, actions]);

  // Chips change with the citations and the checks, not with each piece of text.
  const latest = useRef(view);
  latest.current = view;
  const openLatest = useRef(open);
  openLatest.current = open;
  const cite = useCallback((numbers: number[], at: number) => {
    const sources = numbers.map((number) => latest.current.sources.get(number));
    if (!sources.every((source) => source !== undefined)) return null;
    return <span className="cites">{sources.map((source) => (
      <Chip key={source.number} view={latest.current} source={source} at={at} onOpen={(...args) => openLatest.current(...args)} onHover={setHovered} />
    ))}</span>;
  }, [view.sources.size, view.citations.length]);
  const reading = useMemo<Reading>(() => ({ hosts, marks: [], cite }), [hosts, cite]);

  useLayoutEffect(() => {
    const ranges = prose.current ? doubtful(view).flatMap(({ from, to }) => rangesOf(prose.current!, from, to)) : [];
    setHighlight('doubtful', owner.current, ranges);
    return () => setHighlight('doubtful', owner.current, []);
  }, [view]);
  useLayoutEffect(() => {
    const mark = hovered?.mark;
    setHighlight('cited', owner.current, mark && prose.current ? rangesOf(prose.current, mark.from, mark.to) : []);
    return () => setHighlight('cited', owner.current, []);
  }, [hovered]);

  const quoted = useMemo(() => (streaming ? [] : quotations(view)), [view, streaming]);
  const cited = citedNumbers(view);
  const others = [...view.sources.keys()].filter((number) => !cited.includes(number));
  const note = (number: number) => {
    const source = view.sources.get(number)!;
    return <Note key={number} source={source} onOpen={(opener) => open(source, marksOf(view, number)[0] as Placed<Citation> ?? null, opener)} />;
  };
  const unchecked = !streaming && !view.refusal && view.text !== '' && cited.length === 0 && !stopped;

  if (view.refusal && !streaming) {
    return (
      <div className="answer" data-state="refused">
        <RefusalView view={view} question={question} project={project} actions={actions} onOpen={(source, opener) => open(source, null, opener)} />
        <div className="meta"><span className="branch-place">{branch}</span><span className="meta-tools">
          <IconButton icon="retry" label="Ask again" onClick={actions.regenerate} disabled={busy} />
          <CopyButton icon="link" label="Copy link" text={actions.link} />
        </span></div>
      </div>
    );
  }
  return (
    <div className="answer" data-state={streaming ? 'streaming' : stopped ? 'stopped' : 'done'}>
      {view.replaced && <p className="withdrawn" role="status">The model’s answer was withdrawn: {view.replaced}. These are the passages themselves.</p>}
      {view.text === '' && streaming && <p className="progress">{view.sources.size > 0 ? `Reading ${plural(view.sources.size, 'passage', 'passages')}` : 'Looking it up'}</p>}
      <div ref={prose} className="prose" dir="auto">
        {quoted.length > 0
          ? quoted.map((item) => {
            const source = view.sources.get(item.number);
            const chip = source && <Chip view={view} source={source} at={item.mark.to} onOpen={open} onHover={setHovered} />;
            return <Quoted key={item.from} item={item} view={view} reading={reading} chip={chip}
              open={() => source && open(source, item.mark, document.activeElement as HTMLElement)} />;
          })
          : <Markdown text={view.text} open={streaming} reading={reading} />}
      </div>
      {stopped && <p className="notice">Stopped. What was written so far is kept.</p>}
      {hovered && <HoverCard hovered={hovered} />}
      {!streaming && (
        <div className="meta">
          {branch}
          <Confidence view={view} />
          {view.tentative && <span className="tag">tentative: weak evidence</span>}
          {unchecked && <span className="uncited">Names no source</span>}
          <Doubts view={view} />
          <span className="meter-line">{[view.latencyMs !== null && `${(view.latencyMs / 1000).toFixed(2)} s`, view.usage && meterText(view.usage), view.model].filter(Boolean).join(' · ')}</span>
          <span className="meta-tools">
            <CopyButton icon="copy" label="Copy answer" text={() => view.text} />
            <CopyButton icon="link" label="Copy link" text={actions.link} />
            <IconButton icon="retry" label="Answer again" onClick={actions.regenerate} disabled={busy} />
            <FeedbackButtons turn={view.turnId} given={feedback} />
          </span>
        </div>
      )}
      {(cited.length > 0 || (others.length > 0 && !streaming)) && (
        <div className="notes" role="group" aria-label="Sources">
          {cited.length > 0 && quoted.length === 0 && <ol>{cited.map(note)}</ol>}
          {others.length > 0 && !streaming && <details><summary>{plural(others.length, 'passage', 'passages')} read but not cited</summary><ol>{others.map(note)}</ol></details>}
        </div>
      )}
      {isLast && !streaming && view.followups.length > 0 && (
        <div className="next" role="group" aria-label="Follow-up questions">
          <ul className="followups">{view.followups.map((next) => <li key={next}><button type="button" className="followup" onClick={() => actions.ask(next)} dir="auto">{next}</button></li>)}</ul>
        </div>
      )}
    </div>
  );
});
