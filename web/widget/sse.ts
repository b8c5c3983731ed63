// Parses server-sent events from a response body. For the widget and, as sse.js, for the start page.

export interface RawEvent {
  /** The last `id:` of the stream, from this or an earlier event; empty before the first. */
  id: string;
  data: string;
}

/** Maximum number of characters per event; our server never sends more. */
export const EVENT_CHARS_MAX = 4 << 20;

export class EventTooLong extends Error {}

/** Accepts text in arbitrary slices and returns the complete events. Line ends: LF, CRLF or CR. */
export class EventParser {
  private line = '';
  private data: string[] = [];
  private size = 0;
  private id = '';
  private afterCr = false;
  private first = true;

  push(text: string): RawEvent[] {
    const events: RawEvent[] = [];
    if (text === '') return events;
    if (this.first && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    this.first = false;
    if (this.afterCr && text.startsWith('\n')) text = text.slice(1);
    if (text !== '') this.afterCr = text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.grow(line);
      this.take(this.line, events);
      this.line = '';
    }
    this.grow(rest);
    return events;
  }

  private grow(part: string): void {
    this.size += part.length;
    if (this.size > EVENT_CHARS_MAX) throw new EventTooLong('an event is too long');
    this.line += part;
  }

  private take(line: string, events: RawEvent[]): void {
    if (line === '') {
      if (this.data.length > 0) events.push({ id: this.id, data: this.data.join('\n') });
      this.data = [];
      this.size = 0;
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) {
      this.size -= line.length; // a comment: the server's keep-alive, not part of any event
      return;
    }
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.id = value;
  }
}

/** The events of a byte stream. Leaving the loop cancels the stream. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<RawEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // buffers a character that is split between two slices
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
