// The widget's controller: reacts to clicks, incoming events and errors.

import { Api, ApiError } from './api.ts';
import { emptyConversation, lastQuestion, reduce, running, type Action, type Conversation } from './conversation.ts';
import { Locale } from './locale.ts';
import { pageUrl, readPage } from './page_context.ts';
import { SessionStore, tabStorage } from './session_store.ts';
import type { Scheme } from './theme.ts';
import { runTurn, type Beginning } from './turn.ts';
import { View } from './view.ts';
import type { Rating, Session, StoredMessage } from './wire.ts';

export interface Settings {
  agent: string;
  /** The server's address: where the script was loaded from. */
  origin: string;
  locale: string | undefined;
  colorScheme: Scheme | undefined;
  hideLauncher: boolean;
  pageContext: boolean;
}

export type EventName = 'ready' | 'message' | 'error';

const PAGE_CONTEXT_BYTES = 8192;
const MESSAGE_CHARS = 4000;
const INIT_RETRY_MS = [2000, 8000, 30_000];
const ONLINE_WAIT_MS_MAX = 30_000;

const documentLocales = (): (string | undefined)[] => [document.documentElement.lang, ...navigator.languages];

export class Widget {
  private readonly settings: Settings;
  private readonly api: Api;
  private readonly store: SessionStore;
  private readonly view: View;
  private readonly listeners = new Map<EventName, Set<(detail: unknown) => void>>();
  private locale: Locale;
  private state: Conversation = emptyConversation;
  private session: Promise<Session> | undefined;
  private turn: AbortController | undefined;
  private ready = false;

  constructor(settings: Settings) {
    this.settings = settings;
    this.api = new Api(settings.origin);
    this.store = new SessionStore(settings.agent, tabStorage());
    this.locale = new Locale([settings.locale, ...documentLocales()]);
    this.view = new View({
      toggle: () => this.toggle(),
      close: () => this.close(),
      ask: (text) => this.ask(text),
      stop: () => this.stop(),
      retry: () => this.retry(),
      reset: () => this.reset(),
      rate: (id, rating, reason) => void this.rate(id, rating, reason),
      draft: (text) => this.store.set({ draft: text || undefined }),
    }, this.locale, settings.colorScheme);
  }

  /** Shows the launcher as soon as its appearance is known: from the previous page, otherwise from the server. */
  start(): void {
    document.body.append(this.view.host);
    this.view.setOnline(navigator.onLine);
    window.addEventListener('online', () => this.view.setOnline(true));
    window.addEventListener('offline', () => this.view.setOnline(false));
    // The sheet would cover a page of this site that an answer links to.
    this.view.host.shadowRoot?.addEventListener('click', (event) => {
      const link = (event.target as Element).closest?.('a[href]');
      if (link && !link.getAttribute('target') && this.view.isSheet) this.store.set({ open: undefined });
    });
    // A page restored from the back/forward cache does not know what was said on other pages since.
    window.addEventListener('pageshow', ({ persisted }) => {
      if (!persisted || running(this.state)) return;
      this.session = undefined;
      if (this.view.isOpen) void this.ensureSession().catch((error: unknown) => this.tellError(error));
    });
    const { agent, open, draft, pending } = this.store.current;
    if (draft) this.view.setDraft(draft);
    if (!agent) {
      void this.begin(0);
      return;
    }
    this.introduce();
    if (open && !this.view.isSheet) this.open(false);
    else if (pending) void this.ensureSession().catch(() => {});
  }

  open(focus = true): void {
    if (this.view.isOpen) return;
    this.view.open(focus);
    this.store.set({ open: true });
    void this.ensureSession().catch((error: unknown) => this.tellError(error));
  }

  close(): void {
    this.view.close();
    this.store.set({ open: undefined });
  }

  toggle(): void {
    if (this.view.isOpen) this.close();
    else this.open();
  }

  setLocale(tag: string): void {
    this.locale = new Locale([tag, ...documentLocales()]);
    this.view.setLocale(this.locale);
  }

  /** Starts a new conversation as a new visitor. */
  reset(): void {
    this.stop();
    this.store.clear();
    this.session = undefined;
    this.api.token = '';
    this.dispatch({ type: 'reset' });
    this.view.setDraft('');
    void this.ensureSession().catch((error: unknown) => this.tellError(error));
  }

  on(name: string, listener: unknown): void {
    if (typeof listener !== 'function') return;
    const set = this.listeners.get(name as EventName) ?? new Set();
    set.add(listener as (detail: unknown) => void);
    this.listeners.set(name as EventName, set);
    if (name === 'ready' && this.ready) (listener as (detail: unknown) => void)({ agent: this.settings.agent });
  }

  private async begin(attempt: number): Promise<void> {
    try {
      await this.ensureSession();
    } catch (error) {
      this.tellError(error);
      const refused = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
      if (refused) return; // the agent is not for this page: show nothing
      this.introduce();
      const wait = INIT_RETRY_MS[attempt];
      if (wait !== undefined) setTimeout(() => void this.begin(attempt + 1), wait);
      return;
    }
    this.introduce();
  }

  /** Shows the launcher. */
  private introduce(): void {
    const { agent, limits } = this.store.current;
    if (agent) this.view.setAgent(agent);
    this.view.setLimit(limits?.message_chars_max ?? MESSAGE_CHARS);
    this.view.showLauncher(!this.settings.hideLauncher);
    if (this.ready) return;
    this.ready = true;
    this.emit('ready', { agent: this.settings.agent });
  }

  /** One session per page: created when first needed, and again after a failure. */
  private ensureSession(): Promise<Session> {
    this.session ??= this.init().then((session) => {
      this.restore(session.messages ?? []);
      return session;
    }).catch((error: unknown) => {
      this.session = undefined;
      throw error;
    });
    return this.session;
  }

  /** Gets a new token for this visitor during a turn; the display does not change. */
  private async renew(): Promise<StoredMessage[]> {
    const session = await this.init();
    this.session = Promise.resolve(session);
    return session.messages ?? [];
  }

  private async init(): Promise<Session> {
    const call = (token?: string): Promise<Session> => this.api.init(this.settings.agent, pageUrl(document, location), this.locale.tag, token);
    const { token } = this.store.current;
    const session = await call(token).catch((error: unknown) => {
      // The token is no longer valid: start as a new visitor.
      if (token && error instanceof ApiError && error.status === 401) return call();
      throw error;
    });
    this.store.set({ token: session.token, agent: session.agent, limits: session.limits });
    this.view.setAgent(session.agent);
    this.view.setLimit(session.limits?.message_chars_max ?? MESSAGE_CHARS);
    return session;
  }

  /** Restores the messages of the previous pages and continues a running turn. */
  private restore(stored: StoredMessage[]): void {
    const busy = running(this.state) !== undefined; // asked before the session was created
    this.dispatch({ type: 'restore', messages: stored });
    const { pending } = this.store.current;
    if (busy || !pending) return;
    if (!pending.messageId || stored.some(({ message_id: id }) => id === pending.messageId)) {
      this.store.set({ pending: undefined });
      return;
    }
    this.dispatch({ type: 'ask', text: pending.question });
    void this.runTurn({ messageId: pending.messageId });
  }

  private ask(text: string): void {
    if (running(this.state)) return;
    this.dispatch({ type: 'ask', text });
    this.store.set({ pending: { question: text, messageId: '' } });
    this.emit('message', { role: 'user', text });
    void this.askServer(text);
  }

  private async askServer(text: string): Promise<void> {
    const turn = (this.turn = new AbortController());
    try {
      await this.ensureSession();
    } catch (error) {
      if (turn.signal.aborted) return;
      this.dispatch({ type: 'fail', failure: { code: error instanceof ApiError ? error.code : 'failed' } });
      this.finish();
      return;
    }
    if (turn.signal.aborted) return;
    const bytes = this.store.current.limits?.page_context_bytes_max ?? PAGE_CONTEXT_BYTES;
    const context = this.settings.pageContext ? readPage(document, location, bytes) : undefined;
    const question = { message: text, page_url: pageUrl(document, location), ...(context ? { page_context: context } : {}) };
    await this.runTurn({ question }, turn);
  }

  private async runTurn(beginning: Beginning, turn = new AbortController()): Promise<void> {
    this.turn = turn;
    await runTurn({
      ask: (question, signal) => this.api.ask(question, signal),
      resume: (id, last, signal) => this.api.resume(id, last, signal),
      renew: () => this.renew(),
      dispatch: (action) => this.dispatch(action),
      wait: waitForNetwork,
      started: (messageId) => this.store.set({ pending: { question: lastQuestion(this.state) ?? '', messageId } }),
    }, beginning, turn.signal);
    if (this.turn === turn) this.finish();
  }

  /** A turn has ended. */
  private finish(): void {
    this.turn = undefined;
    this.store.set({ pending: undefined });
    const last = this.state.messages.at(-1);
    if (last?.failure) this.emit('error', { code: last.failure.code });
    else if (last?.role === 'assistant') this.emit('message', { role: 'assistant', message_id: last.id, text: last.text, status: last.status });
  }

  private stop(): void {
    const answer = running(this.state);
    if (!answer) return;
    this.turn?.abort();
    this.dispatch({ type: 'stop' });
    if (answer.id) this.api.stop(answer.id).catch(() => {});
    this.finish();
  }

  private retry(): void {
    const question = lastQuestion(this.state);
    if (question === undefined || running(this.state)) return;
    this.dispatch({ type: 'drop-failed' });
    this.ask(question);
  }

  private async rate(messageId: string, rating: Rating, reason: string): Promise<void> {
    const before = this.state.messages.find(({ id, role }) => id === messageId && role === 'assistant')?.feedback ?? null;
    this.dispatch({ type: 'feedback', id: messageId, rating });
    try {
      await this.api.feedback(messageId, rating, reason);
    } catch (error) {
      this.dispatch({ type: 'feedback', id: messageId, rating: before });
      this.tellError(error);
    }
  }

  private dispatch(action: Action): Conversation {
    this.state = reduce(this.state, action);
    this.view.render(this.state);
    return this.state;
  }

  private tellError(error: unknown): void {
    this.emit('error', { code: error instanceof ApiError ? error.code : 'failed' });
  }

  /** Notifies the page: listeners added by command, and a DOM event. */
  private emit(name: EventName, detail: object): void {
    for (const listener of this.listeners.get(name) ?? []) {
      try {
        listener(detail);
      } catch (error) {
        console.error(error); // an error in the page's own listener
      }
    }
    window.dispatchEvent(new CustomEvent(`footnote:${name}`, { detail }));
  }
}

/** Waits `ms`, then until the network is back, with a limit. */
async function waitForNetwork(ms: number, signal: AbortSignal): Promise<void> {
  const pause = (time: number, also?: string): Promise<void> => new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      if (also) window.removeEventListener(also, done);
      resolve();
    };
    const timer = setTimeout(done, time);
    signal.addEventListener('abort', done);
    if (also) window.addEventListener(also, done);
  });
  await pause(ms);
  if (!navigator.onLine && !signal.aborted) await pause(ONLINE_WAIT_MS_MAX, 'online');
}
