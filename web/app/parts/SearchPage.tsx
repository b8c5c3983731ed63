// Plain search: the passages themselves, without an answer.

import { useEffect, useRef, useState } from 'react';
import { search } from '../lib/api';
import { filterBody, type Filters } from '../lib/filters';
import { go } from '../lib/place';
import { plural } from '../lib/text';
import { asList, asNumber, asText, readSource, trail, type Fields, type Source } from '../lib/wire';
import { FilterChips } from './Filters';
import { IconButton } from './controls';
import { Icon } from './icons';
import type { OpenSource } from './SourcePanel';

const DELAY_MS = 200;
const SNIPPET_CHARS = 360;

interface Hit {
  source: Source;
  text: string;
  probability: number | null;
}

const readHit = (fields: Fields): Hit => ({ source: { ...readSource(fields), number: 0, snippet: asText(fields.text) }, text: asText(fields.text), probability: asNumber(fields.probability) });

const bare = (text: string, source: Source) => {
  const clean = text.replace(/\[([^\]\n]+)\]\([^)\s]*\)/g, '$1').replace(/^[ \t]*\|?[ \t:|-]+\|[ \t]*$/gm, '').replace(/^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$/gm, '').replace(/^#{1,6}[ \t]+|^[>\s]+|[*`]/gm, '').replace(/\s*\|\s*/g, ' · ').replace(/\s+/g, ' ').trim();
  const heading = [...source.headings].reverse().find((candidate) => candidate && clean.startsWith(candidate));
  return heading ? clean.slice(heading.length).trim() : clean;
};

/** The text around the first word of the query, with its words marked. */
function Snippet({ hit, words }: { hit: Hit; words: string[] }) {
  const text = bare(hit.text, hit.source);
  const pattern = words.length > 0 ? new RegExp(`(?<![\\p{L}\\p{N}])(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')})`, 'giu') : null;
  const first = pattern ? text.search(pattern) : -1;
  const from = first > SNIPPET_CHARS / 2 ? text.lastIndexOf(' ', first - SNIPPET_CHARS / 3) + 1 : 0;
  const part = text.slice(from, from + SNIPPET_CHARS);
  return (
    <p className="hit-text" dir="auto">{from > 0 && '… '}{pattern ? part.split(pattern).map((piece, i) => (i % 2 ? <mark key={i} className="other">{piece}</mark> : piece)) : part}{from + SNIPPET_CHARS < text.length && ' …'}</p>
  );
}

export function SearchPage({ query, filters, onFilters, onSetFilters, openSource, ask }: {
  query: string; filters: Filters; onFilters: () => void; onSetFilters: (filters: Filters) => void; openSource: (open: OpenSource) => void; ask: (question: string) => void;
}) {
  const [text, setText] = useState(query);
  const [hits, setHits] = useState<Hit[] | null>(null);
  const [trouble, setTrouble] = useState('');
  const [searching, setSearching] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === '') {
      setHits(null);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      go(`/app/search?q=${encodeURIComponent(wanted)}`, true);
      setSearching(true);
      search({ query: wanted, limit: 20, prefix: true, typos: true, ...filterBody(filters) }, abort.signal).then(
        (found) => { setHits(asList(found.hits).map(readHit)); setTrouble(''); setSearching(false); },
        (cause) => { if (!abort.signal.aborted) { setTrouble(cause instanceof Error ? cause.message : 'The search failed.'); setSearching(false); } },
      );
    }, DELAY_MS);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [text, filters]);
  const words = text.trim().split(/\s+/).filter((word) => word.length > 3 || /\d/.test(word)).slice(0, 12);
  return (
    <div className="search-page">
      <h1>Search the documents</h1>
      <form className="search-form" role="search" onSubmit={(event) => event.preventDefault()}>
        <label className="find find-large"><Icon name="search" /><span className="visually-hidden">Search for</span>
          <input ref={field} type="search" value={text} maxLength={2000} placeholder="Words or a question" onChange={(event) => setText(event.target.value)} /></label>
        <IconButton icon="filter" label="Filters" onClick={onFilters} />
      </form>
      <FilterChips filters={filters} onChange={onSetFilters} />
      {trouble && <p className="notice notice-error" role="alert">{trouble}</p>}
      <p className="search-count" role="status">{hits && !trouble ? (hits.length === 0 ? 'Nothing found. Other words may help.' : plural(hits.length, 'passage', 'passages')) : searching ? 'Searching' : ''}
        {hits && hits.length > 0 && text.trim().split(/\s+/).length > 2 && <> · <button type="button" className="link-button" onClick={() => ask(text.trim())}>Ask this as a question</button></>}</p>
      <ol className="hits">{hits?.map((hit, i) => (
        <li key={i}>
          <button type="button" className="hit" aria-haspopup="dialog" onClick={(event) => openSource({ source: hit.source, marks: [], active: null, opener: event.currentTarget, hosts: new Set() })}>
            <span className="hit-head"><span className="hit-title" dir="auto">{hit.source.title}</span>{trail(hit.source) && <span className="note-trail" dir="auto">{trail(hit.source)}</span>}
              <span className="note-path">{[hit.source.path, hit.source.place].filter(Boolean).join(' · ')}</span></span>
            <Snippet hit={hit} words={words} />
          </button>
        </li>
      ))}</ol>
    </div>
  );
}
