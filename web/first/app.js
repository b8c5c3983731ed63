// The start page: ask a question, watch the answer stream, open the sentence behind a footnote.
//
// Text from models, documents and people is only inserted as text nodes, and links in answers stay text.

import { AskError, fetchCorpora, fetchExamples } from './api.js';
import { byId, copyButton, h, plural } from './dom.js';
import { SourcePanel } from './source_panel.js';
import { citedNumbers, newTurn, streamTurn } from './turn.js';
import { announcement, TurnView } from './turn_view.js';

const LIMITS = {
  questionChars: 10_000,
  countFrom: 9_000, // the counter is shown from this length on
  turns: 50,
  historyRows: 3,
};

class Page {
  #panel = new SourcePanel();
  #turns = []; // {turn, view}, oldest first
  #shown = null; // the turn that is displayed
  #running = null; // {entry, controller} of the running stream
  #historyOpen = false;
  #examples = [];
  #soleCorpus = ''; // set if all documents are in one corpus that is not the default
  #question = byId('question');

  start() {
    this.#question.addEventListener('input', () => this.#questionChanged());
    this.#question.addEventListener('keydown', (event) => this.#questionKey(event));
    byId('ask').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    byId('stop').addEventListener('click', () => this.#stop());
    byId('home-link').addEventListener('click', (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.#goHome();
    });
    byId('history-more').addEventListener('click', () => {
      this.#historyOpen = !this.#historyOpen;
      this.#drawHistory();
    });
    byId('check-again').addEventListener('click', () => this.#loadCorpora());
    byId('copy-command').replaceWith(copyButton('Copy', () => byId('ingest-command').textContent));
    addEventListener('focus', () => byId('empty').hidden || this.#loadCorpora());
    this.#questionChanged();
    this.#loadCorpora();
    this.#loadExamples();
  }

  // --- asking

  #questionKey(event) {
    if (event.isComposing || event.keyCode === 229) return; // Enter is handled by the input method
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === 'ArrowUp' && this.#question.value === '' && this.#shown) {
      event.preventDefault();
      this.#reword(this.#shown.turn);
    }
  }

  #questionChanged() {
    const field = this.#question;
    const count = byId('ask-count');
    count.hidden = field.value.length < LIMITS.countFrom;
    count.textContent = count.hidden ? '' :
      `${field.value.length.toLocaleString('en')} of ${LIMITS.questionChars.toLocaleString('en')} characters`;
    if (CSS.supports('field-sizing', 'content')) return;
    field.style.blockSize = 'auto';
    field.style.blockSize = `${field.scrollHeight}px`;
  }

  #submit() {
    const question = this.#question.value.trim();
    if (question === '') return this.#question.focus();
    this.#question.value = '';
    this.#questionChanged();
    this.ask(question);
  }

  async ask(question, replaced = null) {
    this.#stop();
    this.#panel.close();
    const corpus = byId('corpus-choice').hidden ? this.#soleCorpus : byId('corpus').value;
    const turn = newTurn(question.slice(0, LIMITS.questionChars), corpus);
    const view = new TurnView(turn, {
      openSource: (request) => this.#panel.open(request),
      retry: (old) => this.ask(old.question, old),
      reword: (old) => this.#reword(old),
    });
    const entry = { turn, view };
    this.#turns = [...this.#turns.filter((other) => other.turn !== replaced), entry].slice(-LIMITS.turns);
    const controller = new AbortController();
    this.#running = { entry, controller };
    byId('announcer').textContent = '';
    this.#show(entry);
    this.#question.focus({ preventScroll: true });

    try {
      await streamTurn(turn, controller.signal, () => view.schedule());
      turn.status = turn.refusal ? 'refused' : 'done';
    } catch (cause) {
      turn.status = controller.signal.aborted ? 'stopped' : 'failed';
      turn.error = cause instanceof AskError ? cause : new AskError('The page failed to read the answer.');
      if (turn.status === 'failed' && turn.error !== cause) console.error(cause);
    }
    if (this.#running?.entry === entry) this.#running = null;
    view.render();
    this.#panel.refresh();
    this.#drawState();
    if (turn.status !== 'failed' && this.#shown === entry) byId('announcer').textContent = announcement(turn);
  }

  #stop() {
    const hadFocus = document.activeElement === byId('stop');
    this.#running?.controller.abort();
    this.#running = null;
    if (hadFocus) this.#question.focus();
  }

  #reword(turn) {
    this.#question.value = turn.question;
    this.#questionChanged();
    this.#question.focus();
    this.#question.select();
  }

  // --- what is displayed

  #show(entry) {
    this.#shown = entry;
    document.body.dataset.view = entry ? 'asked' : 'home';
    byId('answer').replaceChildren(...(entry ? [entry.view.element] : []));
    entry?.view.schedule(); // highlights are drawn only while the turn is displayed
    this.#question.placeholder = entry ? 'Ask something else' : 'What would you like to know?';
    this.#drawState();
    scrollTo({ top: 0, behavior: 'instant' });
  }

  #goHome() {
    this.#stop();
    this.#panel.close();
    this.#show(null);
    this.#question.focus();
  }

  #drawState() {
    byId('answer').setAttribute('aria-busy', String(this.#shown?.turn.status === 'streaming'));
    byId('stop').hidden = this.#running === null;
    byId('examples').hidden = this.#shown !== null || this.#examples.length === 0 || !byId('empty').hidden;
    this.#drawHistory();
  }

  #drawHistory() {
    const earlier = this.#turns.filter((entry) => entry !== this.#shown);
    const rows = this.#historyOpen ? earlier : earlier.slice(-LIMITS.historyRows);
    byId('history-list').replaceChildren(...rows.map((entry) => {
      const onclick = () => {
        this.#panel.close();
        this.#show(entry);
        entry.view.heading.focus({ preventScroll: true });
      };
      return h('li', {}, h('button', { type: 'button', class: 'earlier', onclick },
        h('span', { class: 'earlier-question', dir: 'auto' }, entry.turn.question),
        h('span', { class: 'leader', 'aria-hidden': 'true' }),
        h('span', { class: 'earlier-result' }, resultOf(entry.turn))));
    }));
    const more = byId('history-more');
    more.hidden = earlier.length <= LIMITS.historyRows;
    more.textContent = this.#historyOpen ? 'Show fewer' : `Show all ${earlier.length}`;
    byId('history').hidden = earlier.length === 0;
  }

  // --- what the server has

  async #loadCorpora() {
    let corpora;
    try {
      corpora = await fetchCorpora();
    } catch {
      return; // The error is shown when a question is asked.
    }
    const filled = corpora.filter((corpus) => corpus.documents > 0);
    const total = filled.reduce((sum, corpus) => sum + corpus.documents, 0);
    byId('empty').hidden = total > 0;
    byId('ask').hidden = total === 0;
    byId('corpus-line').textContent = total > 0 ? `${plural(total, 'document', 'documents')} read` : '';
    this.#soleCorpus = filled.length === 1 ? filled[0].name : '';
    byId('corpus-choice').hidden = filled.length < 2;
    byId('corpus').replaceChildren(...filled.map(({ name }) => h('option', { value: name, selected: name === 'memory' },
      name === 'memory' ? 'default corpus' : name)));
    this.#drawState();
    if (total > 0 && document.activeElement === document.body) this.#question.focus();
  }

  async #loadExamples() {
    try {
      const { questions, ingestCommand } = await fetchExamples();
      this.#examples = questions.slice(0, 3);
      if (ingestCommand) byId('ingest-command').textContent = ingestCommand;
    } catch {
      return; // Show no examples.
    }
    byId('examples-list').replaceChildren(...this.#examples.map((question) =>
      h('li', {}, h('button', { type: 'button', class: 'example', onclick: () => this.ask(question) },
        h('span', { dir: 'auto' }, question)))));
    this.#drawState();
  }
}

function resultOf(turn) {
  if (turn.status === 'streaming') return 'answering';
  if (turn.status === 'refused') return 'not found';
  if (turn.status !== 'done') return turn.status;
  return plural(citedNumbers(turn).length, 'source', 'sources');
}

new Page().start();
