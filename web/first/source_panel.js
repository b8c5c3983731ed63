// The source panel: next to the answer on wide screens, a sheet from below on narrow ones.

import { AskError, asText, DocumentCache } from './api.js';
import { documentNodes, locateMark, locateSnippet } from './document_text.js';
import { byId, h } from './dom.js';
import { trail } from './turn.js';

export class SourcePanel {
  #dialog = byId('panel');
  #text = byId('panel-text');
  #wide = matchMedia('(min-width: 60rem)');
  #documents = new DocumentCache();
  #request = null;
  #fetching = null;
  #doc = null;
  #marks = [];
  #active = 0; // index into #marks
  #missing = false; // there are citations, but their sentences are not in this text

  constructor() {
    byId('panel-close').addEventListener('click', () => this.close());
    byId('panel-previous').addEventListener('click', () => this.#step(-1));
    byId('panel-next').addEventListener('click', () => this.#step(1));
    this.#dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      this.close();
    });
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.close(); // a click on the backdrop, outside the sheet
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.#dialog.open || event.defaultPrevented) return;
      event.preventDefault();
      this.close();
    });
    this.#wide.addEventListener('change', () => {
      if (!this.#dialog.open) return;
      this.#dialog.close();
      this.#showDialog();
    });
  }

  /**
   * Shows a source: {source, opener, marks(): its citations, active: the selected citation or null,
   * onActive(citation): called with the displayed citation, and with null when the panel closes}.
   */
  async open(request) {
    this.#markOpener(false);
    this.#request?.onActive(null);
    this.#request = request;
    this.#markOpener(true);
    const { source } = request;
    byId('panel-number').textContent = source.number ?? '';
    byId('panel-title').textContent = source.title;
    byId('panel-path').textContent = source.path;
    byId('panel-bar').hidden = true;
    this.#text.setAttribute('aria-label', `Text of ${source.title}`);
    this.#text.replaceChildren(h('p', { class: 'progress' }, 'Opening'));
    this.#showDialog();
    await this.#load();
  }

  /** The citations of the displayed turn have arrived: update a panel that is already open. */
  refresh() {
    if (this.#doc && !this.#marks[0]?.mark && this.#request?.marks().length > 0) this.#showDocument(false);
  }

  close() {
    if (!this.#dialog.open) return;
    this.#fetching?.abort();
    this.#dialog.close();
    document.body.removeAttribute('data-panel');
    this.#markOpener(false);
    this.#request.onActive(null);
    const { opener } = this.#request;
    (opener.isConnected ? opener : byId('question')).focus({ preventScroll: true });
    this.#request = this.#doc = null;
  }

  #markOpener(open) {
    const opener = this.#request?.opener;
    if (open) opener?.setAttribute('aria-expanded', 'true');
    else opener?.removeAttribute('aria-expanded');
  }

  #showDialog() {
    if (this.#dialog.open && this.#wide.matches) this.#text.focus({ preventScroll: true });
    if (this.#dialog.open) return;
    document.body.dataset.panel = 'open';
    if (this.#wide.matches) this.#dialog.show();
    else this.#dialog.showModal();
    this.#text.focus({ preventScroll: true });
  }

  async #load() {
    this.#fetching?.abort();
    this.#fetching = new AbortController();
    const { signal } = this.#fetching;
    this.#doc = null;
    try {
      const doc = await this.#documents.get(this.#request.source, signal);
      if (signal.aborted) return;
      this.#doc = doc;
      this.#showDocument(false);
    } catch (cause) {
      if (signal.aborted) return;
      const message = cause instanceof AskError ? `${cause.message} ${cause.hint}` : 'The document could not be read.';
      const retry = h('button', { type: 'button', class: 'link-button', onclick: () => this.#load() }, 'Try again');
      this.#text.replaceChildren(h('div', { class: 'notice notice-error' }, h('p', { role: 'alert' }, message),
        h('div', { class: 'notice-buttons' }, retry)));
    }
  }

  #showDocument(showAll) {
    const { source, marks, active } = this.#request;
    const doc = this.#doc;
    byId('panel-title').textContent = asText(doc.title) || source.title;
    byId('panel-path').replaceChildren(asText(doc.source_path) || source.path, ...externalLink(doc.url));

    const given = marks();
    const places = new Map(); // one highlight per range, even if it is cited several times
    for (const mark of given) {
      const range = locateMark(doc.text, mark);
      if (!range) continue;
      const key = `${range.start}-${range.end}`;
      if (!places.has(key)) places.set(key, { ...range, mark, wanted: false });
      if (mark === active) Object.assign(places.get(key), { mark, wanted: true });
    }
    this.#marks = [...places.values()].sort((a, b) => a.start - b.start);
    this.#active = Math.max(0, this.#marks.findIndex((range) => range.wanted));
    if (this.#marks.length > 0) this.#marks[this.#active].active = true;
    // No sentence is bound to this source: show the passage that was read.
    const passage = given.length === 0 && locateSnippet(doc.text, source.snippet);
    if (passage) this.#marks = [{ ...passage, mark: null, near: true }];
    this.#missing = given.length > 0 && this.#marks.length === 0;
    this.#draw(showAll);
    this.#reveal('instant');
  }

  #draw(showAll) {
    const { source } = this.#request;
    const { nodes, whole } = documentNodes(this.#doc, source.headings, this.#marks, showAll);
    const more = () => h('button', { type: 'button', class: 'link-button doc-more', onclick: () => this.#showDocument(true) },
      'This is an excerpt. Show the whole document');
    this.#text.replaceChildren(h('div', { class: 'doc', dir: 'auto' }, ...(whole ? nodes : [more(), ...nodes, more()])));
    this.#drawBar();
  }

  #drawBar() {
    const active = this.#marks[this.#active];
    this.#request.onActive(active?.mark ?? null);
    const notes = [
      trail(this.#request.source),
      this.#marks.length > 1 && `Passage ${this.#active + 1} of ${this.#marks.length}`,
      this.#missing && 'The cited sentence was not found in this version.',
      active?.mark?.support === 'unsupported' && 'Checked: this sentence does not support the claim.',
      this.#doc.live === false && 'This is the version that was cited; the document has changed since.',
    ].filter(Boolean);
    byId('panel-note').textContent = notes.join(' · ');
    byId('panel-steps').hidden = this.#marks.length < 2;
    byId('panel-bar').hidden = notes.length === 0;
  }

  #step(by) {
    const count = this.#marks.length;
    this.#marks[this.#active].active = false;
    this.#active = (this.#active + by + count) % count;
    this.#marks[this.#active].active = true;
    this.#draw(true);
    this.#reveal(matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth');
  }

  /** Scrolls the active passage to the upper third of the panel. */
  #reveal(behavior) {
    const mark = this.#text.querySelector('mark.active, mark.near');
    const offset = mark ? mark.getBoundingClientRect().top - this.#text.getBoundingClientRect().top : 0;
    const top = mark ? this.#text.scrollTop + offset - this.#text.clientHeight / 3 : 0;
    this.#text.scrollTo({ top, behavior });
  }
}

/** A link to the document's original page, for http and https URLs only. */
function externalLink(address) {
  if (typeof address !== 'string' || !/^https?:\/\//i.test(address)) return [];
  return [' ', h('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, 'Open page')];
}
