// Shows a turn: the question, the streaming answer, its outcome, and the sources below it.

import { rangesOf, renderAnswer } from './answer_text.js';
import { asText } from './api.js';
import { copyButton, h, plural } from './dom.js';
import { citedNumbers, doubtful, markAt, marksOf, trail } from './turn.js';

const TIERS = { high: 'High confidence', moderate: 'Moderate confidence', low: 'Low confidence' };

export class TurnView {
  #turn;
  #actions; // openSource(request), retry(turn), reword(turn)
  #frame = 0;
  #notesKey = null;
  #endKey = null;
  #pinned = null; // the citation whose source is open: its sentence stays highlighted

  constructor(turn, actions) {
    this.#turn = turn;
    this.#actions = actions;
    this.heading = h('h2', { class: 'turn-question', dir: 'auto', tabindex: '-1' }, turn.question);
    this.progress = h('p', { class: 'progress' });
    this.prose = h('div', { class: 'prose', dir: 'auto' });
    this.end = h('div', { class: 'turn-end' });
    this.notes = h('div', { class: 'notes-place' });
    this.element = h('article', { class: 'turn' }, this.heading, this.progress, this.prose, this.end, this.notes);
    this.render();
  }

  /** Draws in the next frame; several changes are drawn once. */
  schedule() {
    this.#frame ||= requestAnimationFrame(() => this.render());
  }

  render() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const turn = this.#turn;
    const streaming = turn.status === 'streaming';
    const shown = turn.refusal ? '' : streaming ? turn.text.replace(/\s*\[[\d,\s]*$/, '') : turn.text;
    this.element.dataset.status = turn.status;
    this.progress.hidden = !streaming || shown !== '' || turn.refusal !== null;
    if (!this.progress.hidden) {
      const count = turn.sources.size;
      this.progress.textContent = count > 0 ? `Reading ${plural(count, 'passage', 'passages')}` : 'Looking it up';
    }
    renderAnswer(this.prose, shown, turn.sources.size, (numbers, at) => this.#citations(numbers, at));
    this.prose.hidden = shown === '';
    this.#markDoubts();
    this.#renderNotes();
    this.#renderEnd();
  }

  #citations(numbers, position) {
    if (!numbers.every((number) => this.#turn.sources.has(number))) return null;
    return numbers.map((number) => {
      const source = this.#turn.sources.get(number);
      const button = h('button', {
        type: 'button',
        class: 'cite',
        'data-number': number,
        'data-at': position,
        'aria-label': `Source ${number}: ${source.title}, ${source.path}`,
        'aria-haspopup': 'dialog',
        onclick: () => this.#open(source, button, markAt(this.#turn, number, position)),
        onpointerenter: () => this.#light(markAt(this.#turn, number, position)),
        onpointerleave: () => this.#light(null),
        onfocus: () => this.#light(markAt(this.#turn, number, position)),
        onblur: () => this.#light(null),
      }, String(number));
      return button;
    });
  }

  /** Marks citations that failed the check, so that none looks valid when it is not. */
  #flagUnsupported() {
    for (const button of this.prose.querySelectorAll('.cite')) {
      const mark = markAt(this.#turn, Number(button.dataset.number), Number(button.dataset.at));
      if (mark?.support !== 'unsupported' || button.dataset.support) continue;
      button.dataset.support = 'unsupported';
      button.setAttribute('aria-label', `${button.getAttribute('aria-label')} (not confirmed by this source)`);
      button.append('?');
    }
  }

  /** Underlines unsupported sentences with dots as their results arrive; #meta states their number. */
  #markDoubts() {
    if (!CSS.highlights || !this.element.isConnected) return;
    const ranges = doubtful(this.#turn).flatMap(({ answerFrom, answerTo }) => rangesOf(this.prose, answerFrom, answerTo));
    if (ranges.length > 0) CSS.highlights.set('doubtful', new Highlight(...ranges));
    else CSS.highlights.delete('doubtful');
  }

  /** Highlights the answer sentence of a citation; without one, that of the open source. */
  #light(mark) {
    if (!CSS.highlights) return;
    mark ??= this.#pinned;
    const ranges = mark ? rangesOf(this.prose, mark.answerFrom, mark.answerTo) : [];
    if (ranges.length > 0) CSS.highlights.set('cited', new Highlight(...ranges));
    else CSS.highlights.delete('cited');
  }

  #open(source, opener, mark = null) {
    const turn = this.#turn;
    const onActive = (active) => {
      this.#pinned = active;
      this.#light(null);
    };
    this.#actions.openSource({ source, opener, active: mark, marks: () => marksOf(turn, source.number), onActive });
  }

  #renderNotes() {
    const turn = this.#turn;
    const cited = turn.refusal ? [] : citedNumbers(turn);
    const others = turn.status === 'done' ? [...turn.sources.keys()].filter((number) => !cited.includes(number)) : [];
    const key = `${cited} / ${others}`;
    if (turn.refusal || cited.length + others.length === 0) {
      this.notes.replaceChildren();
      this.#notesKey = null;
    } else if (key !== this.#notesKey) {
      this.#notesKey = key;
      cited.sort((a, b) => a - b);
      const list = (numbers) => h('ol', {}, ...numbers.map((number) => this.#note(turn.sources.get(number))));
      this.notes.replaceChildren(
        h('section', { class: 'notes', 'aria-label': 'Sources' },
          cited.length > 0 && list(cited),
          others.length > 0 && h('details', {},
            h('summary', {}, `${plural(others.length, 'passage', 'passages')} read but not cited`), list(others))),
      );
    }
  }

  #note(source) {
    const path = trail(source);
    const button = h('button', {
      type: 'button',
      class: 'note',
      'aria-haspopup': 'dialog',
      onclick: () => this.#open(source, button, marksOf(this.#turn, source.number)[0] ?? null),
    },
    h('span', { class: 'note-number' }, h('span', { class: 'visually-hidden' }, 'Source '), String(source.number)),
    h('span', { class: 'note-body' },
      h('span', { class: 'note-title', dir: 'auto' }, source.title),
      path && h('span', { class: 'note-trail', dir: 'auto' }, path),
      h('span', { class: 'note-path' }, source.path)));
    return h('li', {}, button);
  }

  #renderEnd() {
    const turn = this.#turn;
    const key = turn.status + (turn.refusal ? ' refusal' : '');
    if (key === this.#endKey) return;
    this.#endKey = key;
    if (turn.status === 'done') this.#flagUnsupported();
    const parts = [];
    if (turn.refusal) parts.push(this.#refusal(turn.refusal));
    if (turn.status === 'done') parts.push(this.#meta());
    if (turn.status === 'stopped') parts.push(this.#stopped());
    if (turn.status === 'failed') parts.push(this.#failure());
    this.end.replaceChildren(...parts);
  }

  #refusal(refusal) {
    const nearest = Array.isArray(refusal.nearest) ? refusal.nearest : [];
    const body = asText(refusal.body) || this.#turn.text || 'The documents that were read do not answer this question.';
    return h('section', { class: 'refusal', 'aria-labelledby': 'refusal-title' },
      h('h3', { id: 'refusal-title' }, 'Not in these documents'),
      h('p', { dir: 'auto' }, body),
      asText(refusal.hint) && h('p', { class: 'refusal-hint', dir: 'auto' }, refusal.hint),
      nearest.length > 0 && h('p', { class: 'refusal-nearest-title', id: 'nearest-title' }, 'Closest matches'),
      nearest.length > 0 && h('ul', { class: 'nearest', 'aria-labelledby': 'nearest-title' },
        ...nearest.map((near) => this.#nearest(near))),
      this.#buttons(['Reword the question', () => this.#actions.reword(this.#turn)]));
  }

  #nearest(near) {
    const source = {
      number: null,
      documentId: near.documentId,
      version: near.version,
      title: asText(near.title) || asText(near.sourcePath),
      path: asText(near.sourcePath),
      headings: [],
      snippet: asText(near.snippet),
    };
    const button = h('button', {
      type: 'button', class: 'near', 'aria-haspopup': 'dialog', onclick: () => this.#open(source, button),
    }, h('span', { class: 'near-title', dir: 'auto' }, source.title), h('span', { class: 'note-path' }, source.path));
    return h('li', {}, button);
  }

  #meta() {
    const turn = this.#turn;
    const { tier, confidence } = turn.confidence ?? {};
    const row = h('div', { class: 'meta' });
    if (TIERS[tier]) {
      const value = Math.max(0, Math.min(100, Math.round(Number(confidence) || 0)));
      const fill = h('span', { class: 'meter-fill' });
      fill.style.inlineSize = `${value}%`;
      row.append(h('span', { class: 'confidence', 'data-tier': tier },
        h('span', {
          class: 'meter', role: 'meter', 'aria-label': 'Confidence', 'aria-valuemin': '0', 'aria-valuemax': '100',
          'aria-valuenow': value, 'aria-valuetext': `${tier}, ${value} of 100`,
        }, fill), TIERS[tier]));
    }
    if (citedNumbers(turn).length === 0) row.append(h('span', { class: 'uncited' }, 'No source is cited for this answer'));
    if (turn.replaced) row.append(h('span', { class: 'replaced' }, 'Quoted: what the language model wrote was withdrawn'));
    const doubts = doubtful(turn).length;
    if (doubts > 0) row.append(this.#doubts(doubts));
    if (turn.latencyMs !== null) row.append(h('span', {}, `${(turn.latencyMs / 1000).toFixed(turn.latencyMs < 1000 ? 2 : 1)} s`));
    row.append(copyButton('Copy answer', () => this.#plain()));
    return row;
  }

  /** States how many sentences are unsupported, and which, also for people who cannot see the dotted line. */
  #doubts(count) {
    const told = doubtful(this.#turn).map(({ support, answerFrom, answerTo }) => h('li', {},
      h('span', { dir: 'auto' }, this.#turn.text.slice(answerFrom, answerTo).replace(/\s*\[\d{1,3}\]/g, '')),
      h('span', { class: 'doubt-reason' }, support === 'uncited' ? 'names no source' : 'its source does not confirm it')));
    return h('details', { class: 'doubts' },
      h('summary', {}, `${plural(count, 'sentence', 'sentences')} not confirmed`), h('ul', {}, ...told));
  }

  /** The answer and its notes as plain text, for the clipboard. */
  #plain() {
    const numbers = citedNumbers(this.#turn).sort((a, b) => a - b);
    const notes = numbers.map((number) => {
      const source = this.#turn.sources.get(number);
      return `[${number}] ${source.title}, ${source.path}`;
    });
    return [this.#turn.text.trim(), notes.join('\n')].filter(Boolean).join('\n\n');
  }

  #stopped() {
    return h('div', { class: 'notice' },
      h('p', {}, this.#turn.text.trim() === '' ? 'Stopped before an answer came.' : 'Stopped here. The rest was not written.'),
      this.#retryButtons('Ask again'));
  }

  #failure() {
    const { error } = this.#turn;
    return h('div', { class: 'notice notice-error' },
      h('p', { role: 'alert' }, h('strong', {}, 'This did not work. '), h('span', { dir: 'auto' }, error.message),
        error.hint ? ` ${error.hint}` : ''),
      this.#retryButtons('Try again'));
  }

  #retryButtons(label) {
    return this.#buttons([label, () => this.#actions.retry(this.#turn)],
      ['Reword the question', () => this.#actions.reword(this.#turn)]);
  }

  #buttons(...actions) {
    return h('div', { class: 'notice-buttons' },
      ...actions.map(([label, onclick]) => h('button', { type: 'button', class: 'link-button', onclick }, label)));
  }
}

/** The screen reader announcement when a turn has ended. Failures are announced by role=alert. */
export function announcement(turn) {
  if (turn.refusal) return `Not in these documents. ${asText(turn.refusal.body) || turn.text}`;
  if (turn.status === 'stopped') return 'Stopped.';
  const words = turn.text.replace(/\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\]/g, '').replace(/[*`#]/g, '');
  const tier = TIERS[turn.confidence?.tier];
  const doubts = doubtful(turn).length;
  return [`Answer: ${words.trim()}`, plural(citedNumbers(turn).length, 'source', 'sources') + '.', tier && `${tier}.`,
    doubts > 0 && `${plural(doubts, 'sentence is', 'sentences are')} not confirmed by a source.`]
    .filter(Boolean).join(' ');
}
