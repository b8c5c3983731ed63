// Runs one turn from the question to its end, over a connection that may break. The page, the clock and the network are passed in.

import { ApiError, type NumberedEvent } from './api.ts';
import type { Action, Conversation } from './conversation.ts';
import type { Question, StoredMessage } from './wire.ts';

export interface TurnParts {
  ask(question: Question, signal: AbortSignal): AsyncIterable<NumberedEvent>;
  resume(messageId: string, lastEventId: number, signal: AbortSignal): AsyncIterable<NumberedEvent>;
  /** A new token for the same visitor; the stored messages of the conversation. */
  renew(): Promise<StoredMessage[]>;
  dispatch(action: Action): Conversation;
  /** Waits for this time and until the network is back. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  started(messageId: string): void;
}

/** The server keeps a turn for 10 s without a reader; later attempts only find the stored messages. */
export const RESUME_WAITS_MS = [300, 1000, 2000, 4000, 8000] as const;

/** How the turn starts: with a question, or with a running turn of the previous page. */
export type Beginning = { question: Question } | { messageId: string };

const isBroken = (error: ApiError): boolean => error.status === 0 || error.status >= 500;

class Turn {
  private readonly parts: TurnParts;
  private readonly signal: AbortSignal;
  private readonly beginning: Beginning;
  private messageId: string;
  private lastEventId = 0;
  private renewed = false;
  private tries = 0;

  constructor(parts: TurnParts, beginning: Beginning, signal: AbortSignal) {
    this.parts = parts;
    this.beginning = beginning;
    this.signal = signal;
    this.messageId = 'messageId' in beginning ? beginning.messageId : '';
  }

  async run(): Promise<void> {
    while (!this.signal.aborted) {
      try {
        if (await this.read()) return;
        throw new ApiError(0, 'network'); // the stream ended without a final event
      } catch (thrown) {
        if (this.signal.aborted) return;
        const error = thrown instanceof ApiError ? thrown : new ApiError(0, 'failed');
        if (!(await this.recover(error))) return;
      }
    }
  }

  /** Whether the turn has ended. */
  private async read(): Promise<boolean> {
    const events = this.messageId
      ? this.parts.resume(this.messageId, this.lastEventId, this.signal)
      : this.parts.ask((this.beginning as { question: Question }).question, this.signal);
    for await (const { id, event } of events) {
      if (this.signal.aborted) return true;
      this.tries = 0;
      this.lastEventId = Math.max(this.lastEventId, id);
      this.parts.dispatch({ type: 'event', id, event });
      if (event.event === 'start') {
        this.messageId = event.message_id;
        this.parts.started(event.message_id);
      }
      if (event.event === 'done' || event.event === 'error') return true;
    }
    return false;
  }

  /** Whether to continue. */
  private async recover(error: ApiError): Promise<boolean> {
    if (error.status === 401 && !this.renewed) {
      this.renewed = true;
      return this.renew();
    }
    if (error.status === 404 && this.messageId) return this.takeStored();
    const wait = RESUME_WAITS_MS[this.tries];
    if (!isBroken(error) || !this.messageId || wait === undefined) return this.fail(error);
    this.tries += 1;
    this.parts.dispatch({ type: 'reconnecting' });
    await this.parts.wait(wait, this.signal);
    return true;
  }

  private async renew(): Promise<boolean> {
    try {
      await this.parts.renew();
      return true;
    } catch (error) {
      return this.fail(error);
    }
  }

  /** The stream is gone, but the answer may have been completed without us. */
  private async takeStored(): Promise<boolean> {
    try {
      const stored = (await this.parts.renew()).find((one) => one.role === 'assistant' && one.message_id === this.messageId);
      if (!stored) return this.fail(new ApiError(0, 'network'));
      this.parts.dispatch({ type: 'settle', stored });
      return false;
    } catch (error) {
      return this.fail(error);
    }
  }

  private fail(thrown: unknown): false {
    const error = thrown instanceof ApiError ? thrown : new ApiError(0, 'failed');
    const { code, retryAfterSeconds } = error;
    this.parts.dispatch({ type: 'fail', failure: { code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) } });
    return false;
  }
}

/** Runs the turn to its end. Events are dispatched, nothing is thrown. Aborting ends it silently. */
export const runTurn = (parts: TurnParts, beginning: Beginning, signal: AbortSignal): Promise<void> => new Turn(parts, beginning, signal).run();
