// The source panel: beside the conversation on wide screens, a sheet from below on narrow ones.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { fetchDocument, ServerError, type DocumentText } from '../lib/api';
import { excerpt, locateQuote, locateSnippet } from '../lib/document';
import { allowedLink, hostsOf } from '../lib/links';
import { parseMarkdown, parsePlain } from '../lib/markdown';
import { trail, type Citation, type Source } from '../lib/wire';
import { IconButton, useMediaQuery } from './controls';
import { Blocks, type MarkedRange } from './Markdown';

export interface OpenSource {
  source: Source;
  /** The citations of this source; the first place shown is that of `active`. */
  marks: Citation[];
  active: Citation | null;
  opener: HTMLElement | null;
  hosts: ReadonlySet<string>;
}

interface Place extends MarkedRange {
  mark: Citation | null;
}

function findPlaces(text: string, { source, marks, active }: OpenSource): { places: Place[]; first: number } {
  const found = new Map<string, Place>(); // one highlight per range, even if it is cited several times
  let wanted = '';
  for (const mark of marks) {
    const range = locateQuote(text, mark.sourceStart, mark.sourceEnd, mark.quote);
    if (!range) continue;
    const key = `${range.from}-${range.to}`;
    if (mark === active) wanted = key;
    if (!found.has(key) || mark === active) found.set(key, { ...range, tone: 'other', mark });
  }
  const places = [...found].sort(([, a], [, b]) => a.from - b.from);
  if (places.length > 0) return { places: places.map(([, place]) => place), first: Math.max(0, places.findIndex(([key]) => key === wanted)) };
  // No sentence is bound to this source: show the passage that was read.
  const passage = locateSnippet(text, source.snippet);
  return { places: passage ? [{ ...passage, tone: 'passage', mark: null }] : [], first: 0 };
}

function useDocument(source: Source) {
  const [state, setState] = useState<{ doc: DocumentText | null; error: string }>({ doc: null, error: '' });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let current = true;
    setState({ doc: null, error: '' });
    fetchDocument(source.documentId, source.version).then(
      (doc) => current && setState({ doc, error: '' }),
      (cause) => current && setState({ doc: null, error: cause instanceof ServerError ? cause.message : 'The document could not be read.' }),
    );
    return () => { current = false; };
  }, [source.documentId, source.version, attempt]);
  return { ...state, retry: () => setAttempt(attempt + 1) };
}

export function SourcePanel({ open, onClose }: { open: OpenSource; onClose: () => void }) {
  const wide = useMediaQuery('(min-width: 64rem)');
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { source } = open;
  const { doc, error, retry } = useDocument(source);
  const { places, first } = useMemo(() => (doc ? findPlaces(doc.text, open) : { places: [], first: 0 }), [doc, open]);
  const [step, setStep] = useState(0);
  const [whole, setWhole] = useState(false);
  useEffect(() => { setStep(first); setWhole(false); }, [first, open]);

  useEffect(() => {
    const element = dialog.current!;
    if (wide) element.show();
    else element.showModal();
    body.current?.focus({ preventScroll: true });
    return () => element.close();
  }, [wide]);
  useEffect(() => { body.current?.focus({ preventScroll: true }); }, [open]);

  const active = places[Math.min(step, places.length - 1)];
  useLayoutEffect(() => {
    const frame = body.current!;
    const mark = frame.querySelector('mark.active, mark.passage');
    const offset = mark ? mark.getBoundingClientRect().top - frame.getBoundingClientRect().top : 0;
    frame.scrollTop = mark ? frame.scrollTop + offset - frame.clientHeight / 3 : 0;
  }, [doc, active, whole]);

  const shown = useMemo(() => {
    if (!doc) return null;
    const part = excerpt(doc.text, active?.from ?? 0, whole);
    const text = doc.text.slice(part.from, part.to);
    const isMarkdown = /markdown/.test(doc.mediaType);
    const all = isMarkdown ? parseMarkdown(stripFrontMatter(text, part.from), part.from) : parsePlain(text, new Set([doc.title, ...source.headings]));
    const marks: MarkedRange[] = places.map((place) => ({ from: place.from, to: place.to, tone: place.tone === 'passage' ? 'passage' : place === active ? 'active' : 'other' }));
    // The title is in the panel's head already.
    const titled = all[0]?.kind === 'heading' && all[0].text.value.trim() === doc.title && !marks.some((mark) => mark.from < all[0]!.to);
    const blocks = titled ? all.slice(1) : all;
    const shift = isMarkdown ? 0 : part.from; // places of plain blocks count from the excerpt
    return {
      isPart: part.from > 0 || part.to < doc.text.length,
      view: <Blocks blocks={blocks} reading={{ hosts: open.hosts, marks: marks.map((mark) => ({ ...mark, from: mark.from - shift, to: mark.to - shift })), cite: null, plain: !isMarkdown }} />,
    };
  }, [doc, active, whole, places, open.hosts, source.headings]);

  const place = active?.mark?.place || source.place;
  const notes = [
    trail(source), place,
    places.length > 1 && `passage ${step + 1} of ${places.length}`,
    doc && open.marks.length > 0 && !active?.mark && 'the cited sentence was not found in this version',
    active?.mark?.support === 'unsupported' && 'checked: this sentence does not support the claim',
    doc?.live === false && 'the document has changed since',
  ].filter(Boolean);
  const address = doc ? allowedLink(doc.url, hostsOf([doc.url])) : null;
  const more = shown?.isPart && <button type="button" className="link-button doc-more" onClick={() => setWhole(true)}>This is an excerpt. Show the whole document</button>;
  return (
    <dialog ref={dialog} className="panel" aria-labelledby="panel-title"
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onClick={(event) => { if (event.target === dialog.current) onClose(); }}>
      <div className="panel-sheet">
        <div className="panel-head">
          {source.number > 0 && <span className="panel-number" aria-hidden="true">{source.number}</span>}
          <div className="panel-titles">
            <h2 id="panel-title" dir="auto">{doc?.title || source.title}</h2>
            <p className="panel-path">{doc?.path || source.path}{address && <a href={address} target="_blank" rel="noopener noreferrer">Open page</a>}</p>
          </div>
          <IconButton icon="close" label="Close source" onClick={onClose} />
        </div>
        {(notes.length > 0 || places.length > 1) && (
          <div className="panel-bar">
            <p>{notes.join(' · ')}</p>
            {places.length > 1 && (
              <div className="panel-steps">
                <IconButton icon="up" label="Previous passage" onClick={() => setStep((step - 1 + places.length) % places.length)} />
                <IconButton icon="down" label="Next passage" onClick={() => setStep((step + 1) % places.length)} />
              </div>
            )}
          </div>
        )}
        <div ref={body} className="panel-text" tabIndex={0} role="region" aria-label={`Text of ${source.title}`}>
          {error ? (
            <div className="notice notice-error"><p role="alert">{error}</p><button type="button" className="link-button" onClick={retry}>Try again</button></div>
          ) : !shown ? <p className="progress">Opening</p> : (
            <div className="prose doc" dir="auto">{more}{shown.view}{more}</div>
          )}
        </div>
      </div>
    </dialog>
  );
}

/** Front matter is metadata, not text to read. It is blanked, so that all places stay. */
function stripFrontMatter(text: string, from: number): string {
  const match = from === 0 ? /^---\r?\n[^]{0,8000}?\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) : null;
  return match ? match[0].replace(/[^\n]/g, ' ') + text.slice(match[0].length) : text;
}
