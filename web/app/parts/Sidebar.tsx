// The list of conversations: found, opened, renamed, exported and deleted here.

import { useCallback, useEffect, useRef, useState } from 'react';
import { deleteConversation, exportLink, fetchConversations, patchConversation, request, type ListedConversation } from '../lib/api';
import { chatPath, go } from '../lib/place';
import { Dialog, IconButton } from './controls';
import { Icon } from './icons';

const SEARCH_DELAY_MS = 180;

function dayOf(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return 'Earlier';
  const days = Math.floor((new Date().setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86_400_000);
  if (days <= 0) return 'Today';
  return days === 1 ? 'Yesterday' : days < 7 ? 'This week' : days < 31 ? 'This month' : 'Earlier';
}

async function download(id: string, title: string, format: 'markdown' | 'json') {
  const blob = await (await request(exportLink(id, format))).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `${title.replace(/[^\p{L}\p{N} _-]+/gu, '').trim().slice(0, 60) || 'conversation'}.${format === 'json' ? 'json' : 'md'}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function Row({ item, current, onOpen, onChanged, onDeleted }: {
  item: ListedConversation; current: boolean; onOpen: () => void; onChanged: () => void; onDeleted: (item: ListedConversation) => void;
}) {
  const [mode, setMode] = useState<'shown' | 'menu' | 'rename' | 'delete'>('shown');
  const [title, setTitle] = useState(item.title);
  const row = useRef<HTMLLIElement>(null);
  const close = () => { setMode('shown'); row.current?.querySelector<HTMLElement>('.row-more')?.focus(); };
  const act = (work: Promise<unknown>) => void work.then(onChanged, onChanged);
  if (mode === 'rename') {
    return (
      <li><form className="rename" onSubmit={(event) => { event.preventDefault(); setMode('shown'); if (title.trim()) act(patchConversation(item.id, { title: title.trim() })); }}>
        <input aria-label="Title" value={title} maxLength={200} autoFocus onChange={(event) => setTitle(event.target.value)} onFocus={(event) => event.target.select()}
          onKeyDown={(event) => { if (event.key === 'Escape') { event.stopPropagation(); setMode('shown'); } }} />
        <button type="submit" className="link-button">Save</button>
      </form></li>
    );
  }
  return (
    <li ref={row} className="row" data-current={current || undefined} onBlur={(event) => { if (mode === 'menu' && !event.currentTarget.contains(event.relatedTarget)) setMode('shown'); }}>
      <a href={chatPath(item.id)} aria-current={current ? 'page' : undefined} dir="auto" title={item.title}
        onClick={(event) => { if (event.metaKey || event.ctrlKey || event.shiftKey) return; event.preventDefault(); go(chatPath(item.id)); onOpen(); }}>{item.title || 'Untitled'}</a>
      <IconButton className="row-more" icon="more" label={`More about ${item.title || 'this conversation'}`} expanded={mode === 'menu'} onClick={() => setMode(mode === 'menu' ? 'shown' : 'menu')} />
      {mode === 'menu' && (
        <div className="menu" role="group" aria-label="Conversation" onKeyDown={(event) => { if (event.key === 'Escape') { event.stopPropagation(); close(); } }}>
          <button type="button" autoFocus onClick={() => { setTitle(item.title); setMode('rename'); }}><Icon name="edit" />Rename</button>
          <button type="button" onClick={() => { close(); void download(item.id, item.title, 'markdown').catch(() => undefined); }}><Icon name="download" />Export as Markdown</button>
          <button type="button" onClick={() => { close(); void download(item.id, item.title, 'json').catch(() => undefined); }}><Icon name="download" />Export as JSON</button>
          <button type="button" className="danger" onClick={() => setMode('delete')}><Icon name="trash" />Delete</button>
        </div>
      )}
      {mode === 'delete' && (
        <Dialog label="Delete conversation" title="Delete this conversation?" onClose={() => setMode('shown')}>
          <p dir="auto">“{item.title}” and its answers are deleted for good.</p>
          <div className="buttons">
            <button type="button" className="button" onClick={() => setMode('shown')}>Keep it</button>
            <button type="button" className="button button-danger" onClick={() => { setMode('shown'); void deleteConversation(item.id).then(() => onDeleted(item), onChanged); }}>Delete</button>
          </div>
        </Dialog>
      )}
    </li>
  );
}

export function Sidebar({ current, changes, onClose, onNew, children, searchRef }: {
  current: string; changes: number; onClose: () => void; onNew: () => void; children: React.ReactNode; searchRef: React.RefObject<HTMLInputElement | null>;
}) {
  const [search, setSearch] = useState('');
  const [list, setList] = useState<ListedConversation[] | null>(null);
  const [next, setNext] = useState('');
  const [trouble, setTrouble] = useState('');
  const load = useCallback(async (after: string, signal?: AbortSignal) => {
    try {
      const found = await fetchConversations(search.trim(), after, signal);
      setList((before) => (after && before ? [...before, ...found.list] : found.list));
      setNext(found.next);
      setTrouble('');
    } catch (cause) {
      if (!signal?.aborted) setTrouble(cause instanceof Error ? cause.message : 'The list could not be read.');
    }
  }, [search]);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => void load('', abort.signal), search ? SEARCH_DELAY_MS : 0);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [load, changes]);
  const groups = new Map<string, ListedConversation[]>();
  for (const item of list ?? []) {
    const day = search ? 'Found' : dayOf(item.updatedAt);
    groups.set(day, [...(groups.get(day) ?? []), item]);
  }
  return (
    <div className="sidebar-body">
      <div className="sidebar-top">
        <button type="button" className="button new-chat" onClick={onNew}><Icon name="plus" />New conversation</button>
        <label className="find"><Icon name="search" /><span className="visually-hidden">Find a conversation</span>
          <input ref={searchRef} type="search" value={search} placeholder="Find a conversation" onChange={(event) => setSearch(event.target.value)} /></label>
      </div>
      <nav className="list" aria-label="Conversations">
        {trouble && <p className="list-note" role="alert">{trouble}</p>}
        {list?.length === 0 && !trouble && <p className="list-note">{search ? 'Nothing found.' : 'Your conversations will be listed here.'}</p>}
        {[...groups].map(([day, items]) => (
          <section key={day}><h2>{day}</h2><ul>{items.map((item) => (
            <Row key={item.id} item={item} current={item.id === current} onOpen={onClose} onChanged={() => void load('')}
              onDeleted={() => { void load(''); if (item.id === current) go(chatPath()); }} />
          ))}</ul></section>
        ))}
        {next && <button type="button" className="link-button list-more" onClick={() => void load(next)}>Show more</button>}
      </nav>
      {children}
    </div>
  );
}
