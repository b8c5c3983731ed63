// Parses server-sent events from a response body.

import { AskError } from './api.js';

const EVENT_CHARS = 4 << 20; // maximum size of one event

/** Accepts text in arbitrary slices and returns the `data` of each complete event. Line ends: LF, CRLF or CR. */
export class EventParser {
  #line = '';
  #data = [];
  #size = 0;
  #afterCr = false;
  #first = true;

  push(text) {
    const events = [];
    if (this.#first && text.length > 0) {
      this.#first = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (this.#afterCr && text.startsWith('\n')) text = text.slice(1);
    if (text.length > 0) this.#afterCr = text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    for (let i = 0; i < lines.length; i++) {
      this.#line += lines[i];
      this.#size += lines[i].length;
      if (this.#size > EVENT_CHARS) throw new AskError('The server sent more data than this page can handle.');
      if (i === lines.length - 1) break; // the line is not complete yet
      this.#take(this.#line, events);
      this.#line = '';
    }
    return events;
  }

  #take(line, events) {
    if (line === '') {
      if (this.#data.length > 0) events.push(this.#data.join('\n'));
      this.#data = [];
      this.#size = 0;
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) {
      this.#size -= line.length; // a comment: the server's keep-alive; not counted
      return;
    }
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
  }
}

/** The `data` of each event in a byte stream. Leaving the loop cancels the stream. */
export async function* readEvents(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder(); // buffers a character that is split between two slices
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
