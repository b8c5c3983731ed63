// The page's view of the server: requests, error messages, and how values are parsed.

import { plural } from './dom.js';
import { askForKey, keyHeaders } from './key.js';

const CACHED_DOCUMENTS = 20;

/** An error with a message for the user; `hint` suggests what to do. */
export class AskError extends Error {
  constructor(message, hint = '') {
    super(message);
    this.hint = hint;
  }
}

export const asText = (value) => (typeof value === 'string' ? value : '');
export const asTexts = (value) => (Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []);

/** Converts `points` from Unicode code points (server) to UTF-16 code units (JavaScript). */
export function codeUnitOffsets(text, points) {
  const found = new Map();
  let unit = 0;
  let point = 0;
  for (const target of [...new Set(points)].sort((a, b) => a - b)) {
    while (point < target && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point++;
    }
    found.set(target, unit);
  }
  return points.map((wanted) => found.get(wanted));
}

async function errorOf(response) {
  let message = '';
  try {
    message = asText((await response.json())?.error?.message);
  } catch {
    // No JSON error body; use the status.
  }
  const wait = Number(response.headers.get('retry-after'));
  const hint = wait > 0 ? `Try again in ${plural(wait, 'second', 'seconds')}.` : '';
  return new AskError(message || `The server answered with status ${response.status}.`, hint);
}

async function fetchOk(url, options = {}) {
  for (;;) {
    const key = keyHeaders();
    let response;
    try {
      response = await fetch(url, { ...options, headers: { ...options.headers, ...key } });
    } catch (cause) {
      if (options.signal?.aborted) throw cause;
      throw new AskError('The server could not be reached.', 'Is “footnote serve” still running?');
    }
    if (response.ok) return response;
    if (response.status !== 401) throw await errorOf(response);
    if (!(await askForKey(key.authorization))) throw new AskError('This server needs an API key.', 'Try again to enter one.');
  }
}

/** The server's corpora: {name, documents}. */
export async function fetchCorpora() {
  return (await (await fetchOk('/api/corpora')).json()).corpora ?? [];
}

/** {questions: to try, ingestCommand: how to ingest documents, empty if the server does not say}. */
export async function fetchExamples() {
  const { questions, ingest_command: command } = await (await fetchOk('/api/examples')).json();
  return { questions: asTexts(questions), ingestCommand: typeof command === 'string' ? command : '' };
}

/** Sends a question; the response body is the answer's stream. */
export const postQuestion = (question, corpus, signal) => fetchOk('/api/kb/chat/stream', {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
  body: JSON.stringify({ question, ...(corpus && { project_key: corpus }) }),
  signal,
});

/** A cache of recently opened documents, by version. */
export class DocumentCache {
  #entries = new Map();

  async get(source, signal) {
    const key = `${source.documentId}@${source.version}`;
    let doc = this.#entries.get(key);
    if (!doc) {
      const url = `/api/kb/documents/${encodeURIComponent(source.documentId)}/preview?version=${encodeURIComponent(source.version)}`;
      doc = await (await fetchOk(url, { signal })).json();
      if (typeof doc.text !== 'string') throw new AskError('The server sent no text for this document.');
      if (this.#entries.size >= CACHED_DOCUMENTS) this.#entries.delete(this.#entries.keys().next().value);
      this.#entries.set(key, doc);
    }
    return doc;
  }
}
