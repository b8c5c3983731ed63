// The frame of the app: conversations at the left, the page in the middle, the open source at the right.

import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { closeSession, fetchCorpora, fetchExamples, fetchSession, onKeyNeeded, type Corpus, type Session } from './lib/api';
import { NO_FILTERS, type Filters } from './lib/filters';
import { chatPath, go, readPlace, usePath } from './lib/place';
import { plural } from './lib/text';
import { addFiles, chosenFiles, droppedFiles, type ChosenFile } from './lib/upload';
import type { ComposerHandle } from './parts/Composer';
import { Conversation, newId } from './parts/Conversation';
import { CopyButton, IconButton, useLatest, useMediaQuery } from './parts/controls';
import { FilterDialog } from './parts/Filters';
import { Icon } from './parts/icons';
import { SearchPage } from './parts/SearchPage';
import { ShortcutsDialog, useShortcuts } from './parts/Shortcuts';
import { Sidebar } from './parts/Sidebar';
import { SignIn } from './parts/SignIn';
import { SourcePanel, type OpenSource } from './parts/SourcePanel';
import { Uploads, type Upload } from './parts/Uploads';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const stored = (name: string): string => {
  try {
    return localStorage.getItem(name) ?? '';
  } catch {
    return ''; // storage may be blocked; then nothing is remembered
  }
};
const store = (name: string, value: string) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // as above
  }
};

function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => THEMES.find((name) => name === stored('footnote-theme')) ?? 'auto');
  useEffect(() => { document.documentElement.dataset.theme = theme; }, [theme]);
  return [theme, () => setTheme((before) => {
    const next = THEMES[(THEMES.indexOf(before) + 1) % THEMES.length]!;
    store('footnote-theme', next);
    return next;
  })];
}

function Welcome({ corpora, project, ask, pending }: {
  corpora: Corpus[] | null; project: string; ask: (question: string) => void; pending: React.RefObject<string>; // a question that another page wants asked
}) {
  const [examples, setExamples] = useState<{ questions: string[]; ingestCommand: string } | null>(null);
  useEffect(() => {
    let current = true;
    fetchExamples(project).then((found) => current && setExamples(found), () => undefined);
    return () => { current = false; };
  }, [project, corpora]);
  useEffect(() => {
    const question = pending.current;
    pending.current = '';
    if (question) ask(question);
  }, []);
  const empty = corpora !== null && corpora.reduce((sum, { documents }) => sum + documents, 0) === 0;
  return (
    <div className="welcome">
      <h1>Ask the documents.</h1>
      <p className="lede">Each answer carries a footnote to the very sentence it rests on. When the documents do not say, neither does Footnote.</p>
      {empty ? (
        <section className="empty" aria-labelledby="empty-title">
          <h2 id="empty-title">Nothing has been read yet</h2>
          <p>Drop files or a folder anywhere on this page: Markdown, PDF, Word, web pages, code. Or, in a terminal:</p>
          <p className="command"><code>{examples?.ingestCommand || 'footnote ingest ./docs'}</code><CopyButton label="Copy" text={() => examples?.ingestCommand || 'footnote ingest ./docs'} /></p>
        </section>
      ) : examples && examples.questions.length > 0 && (
        <section className="examples" aria-labelledby="examples-title">
          <h2 id="examples-title">Questions to try</h2>
          <ul>{examples.questions.slice(0, 5).map((question) => <li key={question}><button type="button" className="example" onClick={() => ask(question)} dir="auto">{question}</button></li>)}</ul>
        </section>
      )}
    </div>
  );
}

function useUploads(project: string, onDone: () => void) {
  const [upload, setUpload] = useState<Upload | null>(null);
  const abort = useRef<AbortController | null>(null);
  const add = useCallback(async (files: ChosenFile[]) => {
    if (files.length === 0 || abort.current) return;
    const own = (abort.current = new AbortController());
    await addFiles(files, project, own.signal, (states) => setUpload({ project, files: states, done: false }));
    abort.current = null;
    setUpload((before) => before && { ...before, done: true });
    onDone();
  }, [project, onDone]);
  return { upload, add, cancel: () => abort.current?.abort(), close: () => setUpload(null) };
}

/** Files over the page: `over` while they are dragged. */
function useDrop(enabled: boolean, onFiles: (files: ChosenFile[]) => void): boolean {
  const [over, setOver] = useState(false);
  const latest = useLatest({ enabled, onFiles });
  useEffect(() => {
    const holdsFiles = (event: DragEvent) => latest.current.enabled && [...(event.dataTransfer?.types ?? [])].includes('Files');
    const onOver = (event: DragEvent) => { if (holdsFiles(event)) { event.preventDefault(); setOver(true); } };
    const onLeave = (event: DragEvent) => { if (!event.relatedTarget) setOver(false); };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!holdsFiles(event)) return;
      event.preventDefault();
      const { items, files } = event.dataTransfer!;
      const fallback = chosenFiles(files);
      void droppedFiles(items).then((found) => latest.current.onFiles(found.length > 0 ? found : fallback), () => latest.current.onFiles(fallback));
    };
    addEventListener('dragover', onOver);
    addEventListener('dragleave', onLeave);
    addEventListener('drop', onDrop);
    return () => { removeEventListener('dragover', onOver); removeEventListener('dragleave', onLeave); removeEventListener('drop', onDrop); };
  }, []);
  return over;
}

export function App() {
  const path = usePath();
  const place = useMemo(readPlace, [path]);
  const wide = useMediaQuery('(min-width: 64rem)');
  const [session, setSession] = useState<Session | null>(null);
  const [signIn, setSignIn] = useState<((signedIn: boolean) => void) | null>(null);
  const [corpora, setCorpora] = useState<Corpus[] | null>(null);
  const [filters, setFilters] = useState<Filters>(NO_FILTERS);
  const [dialog, setDialog] = useState<'' | 'filters' | 'shortcuts'>('');
  const [sidebar, setSidebar] = useState(() => stored('footnote-sidebar') !== 'closed');
  const [drawer, setDrawer] = useState(false);
  const [source, setSource] = useState<OpenSource | null>(null);
  const [changes, setChanges] = useState(0);
  const [theme, nextTheme] = useTheme();
  const composer = useRef<ComposerHandle>(null);
  const finder = useRef<HTMLInputElement>(null);
  const drawerDialog = useRef<HTMLDialogElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const folderChooser = useRef<HTMLInputElement>(null);
  const running = useRef<{ busy: boolean; stop: () => void }>({ busy: false, stop: () => undefined });

  const load = useCallback(() => {
    fetchSession().then(setSession, () => undefined);
    fetchCorpora().then(setCorpora, () => undefined);
  }, []);
  useEffect(() => {
    onKeyNeeded(() => new Promise((resolve) => setSignIn(() => (signedIn: boolean) => {
      setSignIn(null);
      resolve(signedIn);
      if (signedIn) { load(); setChanges((count) => count + 1); }
    })));
    load();
  }, [load]);
  useEffect(() => { folderChooser.current?.setAttribute('webkitdirectory', ''); }, []);

  const changed = useCallback(() => setChanges((count) => count + 1), []);
  const uploads = useUploads(filters.project, useCallback(() => { load(); }, [load]));
  const mayAdd = session === null || session.mayIngest;
  const over = useDrop(mayAdd, uploads.add);

  // A new conversation gets its id here, and its address with its first question.
  const [fresh, setFresh] = useState(newId);
  const conversation = place.conversation || fresh;
  const startNew = () => {
    setFresh(newId());
    setSource(null);
    setDrawer(false);
    go(chatPath());
    requestAnimationFrame(() => composer.current?.focus());
  };
  const closeSource = useCallback(() => setSource((open) => {
    const opener = open?.opener;
    requestAnimationFrame(() => (opener?.isConnected ? opener.focus({ preventScroll: true }) : composer.current?.focus()));
    return null;
  }), []);
  useEffect(() => setSource(null), [conversation, place.page]);
  useEffect(() => { if (place.page === 'search') document.title = 'Search · Footnote'; }, [place.page]);
  useEffect(() => {
    const element = drawerDialog.current;
    if (!element) return;
    if (drawer && !wide && !element.open) element.showModal();
    if ((!drawer || wide) && element.open) element.close();
  }, [drawer, wide]);

  const toggleSidebar = () => {
    if (!wide) return setDrawer(!drawer);
    setSidebar(!sidebar);
    store('footnote-sidebar', sidebar ? 'closed' : 'open');
  };
  useShortcuts({
    focusQuestion: () => composer.current?.focus(),
    findConversation: () => { if (wide) setSidebar(true); else setDrawer(true); requestAnimationFrame(() => finder.current?.focus()); },
    newConversation: startNew,
    searchPage: () => go('/app/search'),
    toggleSidebar,
    showShortcuts: () => setDialog('shortcuts'),
    escape: () => {
      if (source) closeSource();
      else if (running.current.busy) running.current.stop();
      else return false;
      return true;
    },
  });

  const pending = useRef('');
  const askFromSearch = (question: string) => { pending.current = question; startNew(); };
  const documents = corpora?.reduce((sum, corpus) => sum + (filters.project && corpus.name !== filters.project ? 0 : corpus.documents), 0);
  const list = (
    <Sidebar current={place.page === 'chat' ? conversation : ''} changes={changes} searchRef={finder} onClose={() => setDrawer(false)} onNew={startNew}>
      <footer className="sidebar-foot">
        <a className="foot-link" href="/app/search" onClick={(event) => { event.preventDefault(); setDrawer(false); go('/app/search'); }}><Icon name="search" />Search the documents</a>
        {mayAdd && <button type="button" className="foot-link" onClick={() => chooser.current?.click()}><Icon name="plus" />Add documents</button>}
        <button type="button" className="foot-link foot-keys" onClick={() => setDialog('shortcuts')}><Icon name="keyboard" />Keyboard shortcuts</button>
        <button type="button" className="foot-link" onClick={nextTheme}><Icon name="sun" />Colours: {theme === 'auto' ? 'as the system' : theme}</button>
        {session?.needsKey && session.signedIn && <button type="button" className="foot-link" onClick={() => void closeSession().then(() => location.assign('/app/chat'))}><Icon name="out" />Sign out</button>}
      </footer>
    </Sidebar>
  );
  return (
    <div className="app" data-sidebar={wide && sidebar ? 'open' : 'closed'} data-panel={source ? 'open' : 'closed'}>
      {wide && sidebar && <aside className="sidebar" aria-label="Conversations">{list}</aside>}
      <dialog ref={drawerDialog} className="drawer" aria-label="Conversations" onClose={() => setDrawer(false)} onClick={(event) => { if (event.target === drawerDialog.current) setDrawer(false); }}>
        {!wide && <div className="drawer-body"><IconButton className="drawer-close" icon="close" label="Close the list" onClick={() => setDrawer(false)} />{list}</div>}
      </dialog>
      <div className="page">
        <header className="masthead">
          <IconButton icon="menu" label={wide && sidebar ? 'Hide the conversations' : 'Show the conversations'} expanded={wide ? sidebar : drawer} onClick={toggleSidebar} />
          <a className="wordmark" href="/app/chat" onClick={(event) => { event.preventDefault(); startNew(); }}>Footnote</a>
          <p className="corpus-line">{documents !== undefined && (documents === 0 ? 'No documents yet' : `${plural(documents, 'document', 'documents')} read`)}</p>
        </header>
        <main className={place.page === 'search' ? 'search-main' : 'chat-main'}>
          {place.page === 'search' ? (
            <SearchPage query={place.query} filters={filters} onFilters={() => setDialog('filters')} onSetFilters={setFilters} openSource={setSource} ask={askFromSearch} />
          ) : (
            <Conversation key={conversation} id={conversation} isNew={!place.conversation} message={place.message} filters={filters} mayAdd={mayAdd}
              onSetFilters={setFilters} onFilters={() => setDialog('filters')} onAdd={(kind) => (kind === 'files' ? chooser : folderChooser).current?.click()}
              onChanged={changed} openSource={setSource} composer={composer} onBusy={(busy, stop) => { running.current = { busy, stop }; }}
              welcome={(ask) => <Welcome corpora={corpora} project={filters.project} ask={ask} pending={pending} />} />
          )}
        </main>
      </div>
      {source && <SourcePanel open={source} onClose={closeSource} />}
      {over && <div className="drop-veil" aria-hidden="true"><p>Drop files or a folder to add them</p></div>}
      {uploads.upload && <Uploads upload={uploads.upload} onCancel={uploads.cancel} onClose={uploads.close} />}
      <input ref={chooser} type="file" multiple hidden aria-label="Files to add" onChange={(event) => { void uploads.add(chosenFiles(event.target.files!)); event.target.value = ''; }} />
      <input ref={folderChooser} type="file" multiple hidden aria-label="Folder to add" onChange={(event) => { void uploads.add(chosenFiles(event.target.files!)); event.target.value = ''; }} />
      {dialog === 'filters' && <FilterDialog filters={filters} corpora={corpora ?? []} onChange={setFilters} onClose={() => setDialog('')} />}
      {dialog === 'shortcuts' && <ShortcutsDialog onClose={() => setDialog('')} />}
      {signIn && <SignIn onEnd={signIn} />}
    </div>
  );
}
