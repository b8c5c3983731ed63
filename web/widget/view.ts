// The launcher and the panel, inside a shadow root that the page's styles don't reach.

import { emptyConversation, running, type Conversation } from './conversation.ts';
import { h, icon, set } from './dom.ts';
import type { Locale } from './locale.ts';
import { plainText } from './markdown.ts';
import { failureText, MessageView, type MessageActions } from './message_view.ts';
import styles from './style.css';
import { themeProperties, type Scheme } from './theme.ts';
import type { Agent } from './wire.ts';
import { webAddress } from './links.ts';

export interface ViewActions extends MessageActions {
  toggle(): void;
  close(): void;
  ask(text: string): void;
  stop(): void;
  draft(text: string): void;
}

/** How close to the end the log must be to scroll with new text. */
const FOLLOW_PX = 48;
/** The remaining characters are shown from this share of the limit on. */
const LIMIT_SHOWN_FROM = 0.9;
const SHEET = '(max-width: 480px), (max-height: 480px)';

export class View {
  readonly host = document.createElement('footnote-widget');
  private readonly shadow = this.host.attachShadow({ mode: 'open' });
  private readonly launcher = h('button', { type: 'button', class: 'launcher', 'aria-expanded': 'false', 'aria-controls': 'panel', onclick: () => this.actions.toggle() });
  private readonly launcherRegion = h('section', { class: 'corner', hidden: true }, this.launcher);
  private readonly title = h('h2', { id: 'title', tabindex: -1 });
  private readonly subtitle = h('p', { class: 'subtitle' });
  private readonly avatar = h('span', { class: 'avatar', 'aria-hidden': 'true' });
  private readonly restart = h('button', { type: 'button', class: 'icon-button', onclick: () => this.actions.reset() }, icon('restart'));
  private readonly closer = h('button', { type: 'button', class: 'icon-button', onclick: () => this.actions.close() }, icon('close'));
  private readonly welcome = h('div', { class: 'welcome' });
  /** Not a live region: `status` announces the finished answer once, instead of every word. */
  private readonly log = h('div', { class: 'log', role: 'log', 'aria-live': 'off', tabindex: 0 });
  private readonly latest = h('button', { type: 'button', class: 'latest', hidden: true, onclick: () => this.scrollToEnd() }, icon('down'));
  private readonly banner = h('p', { class: 'banner', role: 'status' });
  private readonly field = h('textarea', { id: 'question', rows: 1, dir: 'auto', autocomplete: 'off', enterkeyhint: 'send', 'aria-describedby': 'left' });
  private readonly left = h('p', { id: 'left', class: 'left' });
  private readonly send = h('button', { type: 'submit', class: 'send' });
  private readonly footer = h('p', { class: 'footer' });
  private readonly status = h('div', { class: 'hidden', role: 'status' });
  private readonly panel = h('div', { id: 'panel', class: 'panel', role: 'dialog', 'aria-labelledby': 'title', hidden: true });
  private readonly root = h('div', { class: 'root' });
  private readonly messages = new Map<number, MessageView>();
  private readonly sheet = window.matchMedia(SHEET);
  private readonly dark = window.matchMedia('(prefers-color-scheme: dark)');
  private readonly actions: ViewActions;
  private locale: Locale;
  private agent: Agent | undefined;
  private state: Conversation = emptyConversation;
  private announced: number | undefined;
  private follows = true;
  private frame = 0;
  private online = true;
  private charsMax = 4000;
  private scheme: Scheme | undefined;

  constructor(actions: ViewActions, locale: Locale, scheme: Scheme | undefined) {
    this.actions = actions;
    this.locale = locale;
    this.scheme = scheme;
    this.build();
    this.setLocale(locale);
    this.paint();
  }

  get isOpen(): boolean { return !this.panel.hidden; }
  get isSheet(): boolean { return this.sheet.matches; }

  setLocale(locale: Locale): void {
    this.locale = locale;
    const { words } = locale;
    set(this.root, { lang: locale.spoken, dir: locale.direction });
    set(this.launcherRegion, { 'aria-label': words.region });
    this.nameLauncher();
    for (const [button, name] of [[this.restart, words.newChat], [this.closer, words.close], [this.latest, words.latest]] as const) {
      set(button, { 'aria-label': name, title: name });
    }
    set(this.log, { 'aria-label': words.log });
    set(this.field, { placeholder: words.placeholder, 'aria-label': words.placeholder });
    this.footer.textContent = words.disclaimer;
    this.setOnline(this.online);
    this.setAgent(this.agent);
    this.draw();
  }

  setAgent(agent: Agent | undefined): void {
    this.agent = agent;
    const { words } = this.locale;
    const persona = agent?.persona?.name?.trim() ?? '';
    const title = agent?.theme?.title?.trim() || persona || agent?.name.trim() || words.region;
    this.title.textContent = title;
    this.subtitle.textContent = persona !== title ? persona : '';
    const initial = [...(persona || title)][0]?.toUpperCase() ?? '';
    this.avatar.replaceChildren(this.logo(initial) ?? initial);
    this.root.dataset['side'] = agent?.theme?.position === 'left' ? 'left' : 'right';
    this.welcome.replaceChildren(...this.welcomeParts(agent?.starter_prompts ?? []));
    this.paint();
  }

  setLimit(charsMax: number): void {
    this.charsMax = charsMax;
    this.measure();
  }

  setOnline(online: boolean): void {
    this.online = online;
    this.banner.replaceChildren(...(online ? [] : [icon('offline'), this.locale.words.offline]));
    this.measure();
  }

  setDraft(text: string): void {
    this.field.value = text;
    this.measure();
  }

  showLauncher(shown: boolean): void {
    this.launcherRegion.hidden = !shown;
  }

  /** `focus`: the visitor opened the panel. After a navigation the page keeps the focus. */
  open(focus: boolean): void {
    this.panel.hidden = false;
    set(this.root, { 'data-open': true, 'data-unread': false });
    this.nameLauncher();
    set(this.panel, { 'aria-modal': this.isSheet ? 'true' : null });
    this.draw();
    this.scrollToEnd();
    this.measure();
    // On a touch screen a focused field opens the keyboard, which covers the text.
    if (focus) (window.matchMedia('(pointer: coarse)').matches ? this.title : this.field).focus({ preventScroll: true });
  }

  close(): void {
    const held = this.panel.contains(this.shadow.activeElement);
    this.panel.hidden = true;
    set(this.root, { 'data-open': false });
    this.nameLauncher();
    if (held) this.launcher.focus({ preventScroll: true });
  }

  render(state: Conversation): void {
    this.state = state;
    this.announce(state);
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }

  private build(): void {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    this.shadow.adoptedStyleSheets = [sheet];
    const form = h('form', { class: 'composer', onsubmit: (event: Event) => { event.preventDefault(); this.submit(); } },
      h('div', { class: 'field' }, this.field, this.send), this.left);
    this.panel.append(
      h('div', { class: 'head' }, this.avatar, h('div', { class: 'names' }, this.title, this.subtitle), this.restart, this.closer),
      h('div', { class: 'middle' }, this.log, this.latest), this.banner, form, this.footer);
    this.log.append(this.welcome);
    this.root.append(this.panel, this.launcherRegion, this.status);
    this.shadow.append(this.root);
    this.field.addEventListener('input', () => {
      this.measure();
      this.actions.draft(this.field.value);
    });
    this.field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!running(this.state)) this.submit();
    });
    this.log.addEventListener('scroll', () => this.noteScroll(), { passive: true });
    this.panel.addEventListener('keydown', (event) => this.panelKey(event));
    // The page would treat the widget's keys as its own shortcuts, because it sees only this element and no field.
    for (const type of ['keydown', 'keyup', 'keypress'] as const) this.root.addEventListener(type, (event) => event.stopPropagation());
    this.dark.addEventListener('change', () => this.paint());
    this.sheet.addEventListener('change', () => set(this.panel, { 'aria-modal': this.isSheet && this.isOpen ? 'true' : null }));
    if ('ResizeObserver' in window) {
      new ResizeObserver(() => { if (this.follows) this.scrollToEnd(); }).observe(this.log);
    }
  }

  private panelKey(event: KeyboardEvent): void {
    if (event.key === 'Escape' && !event.isComposing) {
      event.preventDefault();
      this.actions.close();
    } else if (event.key === 'Tab' && this.isSheet) {
      this.keepInside(event);
    }
  }

  /** A sheet covers the page, so the focus stays inside it. */
  private keepInside(event: KeyboardEvent): void {
    const stops = [...this.panel.querySelectorAll<HTMLElement>('a[href], button, textarea, [tabindex="0"]')]
      .filter((element) => element.getClientRects().length > 0 && !(element as HTMLButtonElement).disabled);
    const [first, last] = [stops[0], stops.at(-1)];
    const active = this.shadow.activeElement;
    if (event.shiftKey && (active === first || active === this.title)) {
      event.preventDefault();
      last?.focus();
    } else if (!event.shiftKey && active === last) {
      event.preventDefault();
      first?.focus();
    }
  }

  private submit(): void {
    if (running(this.state)) return this.actions.stop();
    const text = this.field.value.trim();
    if (text === '' || [...text].length > this.charsMax || !this.online) return this.field.focus();
    this.field.value = '';
    this.follows = true;
    this.measure();
    this.actions.draft('');
    this.actions.ask(text);
    this.field.focus({ preventScroll: true });
  }

  private welcomeParts(prompts: string[]): Node[] {
    const { words } = this.locale;
    const starters = prompts.filter((prompt) => prompt.trim() !== '').map((prompt) => h('li', {}, h('button', {
      type: 'button', class: 'starter', dir: 'auto',
      onclick: () => {
        if (!this.online) return;
        this.actions.ask(prompt);
        this.field.focus({ preventScroll: true });
      },
    }, prompt)));
    return [
      h('p', { class: 'greeting' }, words.greeting), h('p', { class: 'hint' }, words.hint),
      ...(starters.length > 0 ? [h('ul', { class: 'starters', 'aria-label': words.starters }, ...starters)] : []),
    ];
  }

  /** The site's logo, or the initial if it cannot be loaded. */
  private logo(initial: string): HTMLImageElement | undefined {
    const url = this.agent?.theme?.logo_url ? webAddress(this.agent.theme.logo_url, location.href) : undefined;
    if (!url) return undefined;
    const image = h('img', { src: url.href, alt: '', referrerpolicy: 'no-referrer', decoding: 'async' });
    image.addEventListener('error', () => image.replaceWith(initial));
    return image;
  }

  private paint(): void {
    const scheme = this.scheme ?? (this.dark.matches ? 'dark' : 'light');
    this.root.dataset['scheme'] = scheme;
    for (const [name, value] of Object.entries(themeProperties(this.agent?.theme, scheme))) this.root.style.setProperty(name, value);
  }

  private nameLauncher(): void {
    const { words } = this.locale;
    const name = this.isOpen ? words.close : words.open;
    set(this.launcher, { 'aria-expanded': String(this.isOpen), 'aria-label': name, title: name });
    this.launcher.replaceChildren(icon(this.isOpen ? 'down' : 'chat'));
  }

  /** Resizes the field, labels the button and shows the remaining characters near the limit. */
  private measure(): void {
    const busy = running(this.state) !== undefined;
    const { words } = this.locale;
    this.field.style.setProperty('height', 'auto');
    if (this.field.scrollHeight > 0) this.field.style.setProperty('height', `${this.field.scrollHeight}px`);
    const count = [...this.field.value.trim()].length;
    const over = count > this.charsMax;
    this.left.textContent = over ? words.tooLong : count > this.charsMax * LIMIT_SHOWN_FROM ? this.locale.plural(words.charsLeft, this.charsMax - count) : '';
    set(this.field, { 'aria-invalid': over ? 'true' : null });
    const name = busy ? words.stop : words.send;
    if (this.send.getAttribute('aria-label') !== name) this.send.replaceChildren(icon(busy ? 'stop' : 'send'));
    set(this.send, { 'aria-label': name, title: name, 'data-busy': busy, 'aria-disabled': !busy && (count === 0 || over || !this.online) ? 'true' : null });
  }

  private draw(): void {
    const { state } = this;
    if (!this.isOpen) return;
    this.welcome.hidden = state.messages.length > 0;
    set(this.root, { 'data-empty': state.messages.length === 0 });
    this.restart.hidden = state.messages.length === 0;
    const kept = new Set(state.messages.map(({ key }) => key));
    for (const [key, view] of this.messages) {
      if (kept.has(key)) continue;
      view.element.remove();
      this.messages.delete(key);
    }
    let before: Element = this.welcome;
    for (const message of state.messages) {
      let view = this.messages.get(message.key);
      if (!view) {
        view = new MessageView(message, () => this.locale, this.actions);
        this.messages.set(message.key, view);
        before.after(view.element);
      }
      before = view.element;
      view.update(message, state.reconnecting && message === state.messages.at(-1), this.agent?.language);
    }
    set(this.log, { 'aria-busy': String(running(state) !== undefined) });
    this.measure();
    if (this.follows) this.scrollToEnd();
    else this.noteScroll();
  }

  /** Announces a finished answer once, in a separate live region. Failures are alerts. */
  private announce(state: Conversation): void {
    const last = state.messages.at(-1);
    const active = running(state);
    if (active) {
      if (this.announced !== active.key) this.status.textContent = '';
      this.announced = active.key;
      return;
    }
    if (last?.key !== this.announced || last === undefined) return; // restored, not new
    this.announced = undefined;
    set(this.root, { 'data-unread': !this.isOpen });
    const { words } = this.locale;
    if (last.status === 'failed') this.status.textContent = this.isOpen || !last.failure ? '' : failureText(last.failure, this.locale);
    else {
      const sources = new Set(last.citations.map(({ id }) => id)).size;
      const parts = [last.status === 'stopped' ? words.stopped : '', plainText(last.text), sources > 0 ? this.locale.plural(words.sourceCount, sources) : ''];
      this.status.textContent = parts.filter((part) => part !== '').join(' ');
    }
  }

  private noteScroll(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    this.follows = scrollHeight - scrollTop - clientHeight < FOLLOW_PX;
    this.latest.hidden = this.follows;
  }

  private scrollToEnd(): void {
    this.follows = true;
    this.log.scrollTop = this.state.messages.length > 0 ? this.log.scrollHeight : 0;
    this.latest.hidden = true;
  }
}
