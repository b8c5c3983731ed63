// Client for the server's visitor chat API.

import { readEvents } from './sse.ts';
import type { Question, Rating, Session, StreamEvent } from './wire.ts';

/** An error response, or no response at all (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, retryAfterSeconds?: number) {
    super(code);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface NumberedEvent {
  id: number;
  event: StreamEvent;
}

/** Time limit until a response begins; time limit for silence in a stream (the server sends something every 15 s). */
const ANSWER_MS_MAX = 30_000;
const SILENCE_MS_MAX = 45_000;

const parseEvent = (data: string): StreamEvent | undefined => {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && 'event' in value ? (value as StreamEvent) : undefined;
  } catch {
    return undefined;
  }
};

/** Parses seconds or a date; undefined for anything else. */
export function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d{1,9}$/.test(value.trim()) ? Number(value) : (Date.parse(value) - now) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

/** JSON that every parser accepts: lone surrogates, which pages may contain, are replaced. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.replace(/\p{Surrogate}/gu, '\uFFFD') : part));

async function errorOf(response: Response): Promise<ApiError> {
  let code = '';
  try {
    const body = (await response.json()) as { error?: { code?: unknown } };
    if (typeof body.error?.code === 'string') code = body.error.code;
  } catch {
    // The page of a proxy instead of our JSON: use the status.
  }
  return new ApiError(response.status, code || `http_${response.status}`, retryAfter(response.headers.get('retry-after'), Date.now()));
}

export class Api {
  private readonly base: string;
  token = '';

  constructor(origin: string) {
    this.base = `${origin}/api/v1/widget`;
  }

  async init(agentId: string, pageUrl: string, locale: string, earlierToken: string | undefined, signal?: AbortSignal): Promise<Session> {
    const body = { agent_id: agentId, page_url: pageUrl, locale, ...(earlierToken ? { token: earlierToken } : {}) };
    const response = await this.call('/init', { method: 'POST', body, ...(signal ? { signal } : {}) });
    const session = (await response.json()) as Session;
    this.token = session.token;
    return session;
  }

  /** The events of a new turn. */
  ask(question: Question, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    return this.events('/messages/stream', { method: 'POST', body: question, signal });
  }

  /** The events of a running turn after `lastEventId`. */
  resume(messageId: string, lastEventId: number, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    return this.events(`/messages/${encodeURIComponent(messageId)}/stream`, { method: 'GET', signal, lastEventId });
  }

  async stop(messageId: string): Promise<void> {
    await this.call(`/messages/${encodeURIComponent(messageId)}/stop`, { method: 'POST', body: {}, keepalive: true });
  }

  async feedback(messageId: string, rating: Rating, reason: string): Promise<void> {
    await this.call(`/messages/${encodeURIComponent(messageId)}/feedback`, { method: 'POST', body: { rating, ...(reason ? { reason } : {}) } });
  }

  private async *events(path: string, options: CallOptions): AsyncGenerator<NumberedEvent> {
    const silence = new AbortController();
    const leave = (): void => silence.abort();
    options.signal?.addEventListener('abort', leave);
    let timer = setTimeout(leave, ANSWER_MS_MAX + SILENCE_MS_MAX);
    try {
      const response = await this.call(path, { ...options, signal: silence.signal });
      if (!response.body) throw new ApiError(0, 'network');
      const watched = response.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
        transform(part, controller) {
          clearTimeout(timer);
          timer = setTimeout(leave, SILENCE_MS_MAX);
          controller.enqueue(part);
        },
      }));
      for await (const { id, data } of readEvents(watched)) {
        const event = parseEvent(data);
        if (event) yield { id: Number(id) || 0, event };
      }
    } catch (error) {
      throw error instanceof ApiError ? error : new ApiError(0, 'network');
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', leave);
      silence.abort();
    }
  }

  private async call(path: string, { method, body, signal, lastEventId, keepalive }: CallOptions): Promise<Response> {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (this.token && path !== '/init') headers['authorization'] = `Bearer ${this.token}`;
    if (lastEventId !== undefined) headers['last-event-id'] = String(lastEventId);
    const deadline = new AbortController();
    const leave = (): void => deadline.abort();
    const timer = setTimeout(leave, ANSWER_MS_MAX);
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave); // not removed: it also cancels reading the body
    let response: Response;
    try {
      response = await fetch(this.base + path, {
        method, headers, signal: deadline.signal, mode: 'cors', credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer',
        ...(body !== undefined ? { body: toJson(body) } : {}),
        ...(keepalive ? { keepalive } : {}),
      });
    } catch {
      throw new ApiError(0, 'network');
    } finally {
      clearTimeout(timer);
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

interface CallOptions {
  method: 'GET' | 'POST';
  body?: unknown;
  signal?: AbortSignal;
  lastEventId?: number;
  keepalive?: boolean;
}
