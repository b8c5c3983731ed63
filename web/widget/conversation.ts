// The state of a conversation and its reducer. Pure: no network, no clock, no page.

import type { Citation, Rating, StoredMessage, StreamEvent } from './wire.ts';

/** Error codes of a failed turn; the view has the messages for people. */
export interface Failure {
  code: string;
  /** How long to wait, if the server said so. */
  retryAfterSeconds?: number;
}

export type MessageStatus = 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';

export interface Message {
  /** Message number on this page; it never changes. */
  key: number;
  role: 'user' | 'assistant';
  /** The server's id; empty until it is known. */
  id: string;
  text: string;
  status: MessageStatus;
  stage: 'sending' | 'searching' | 'thinking';
  citations: Citation[];
  feedback: Rating | null;
  lowConfidence: boolean;
  truncated: boolean;
  failure: Failure | null;
}

export interface Conversation {
  messages: readonly Message[];
  /** The number of the last event of the running turn; used to skip repeated events after a resume. */
  lastEventId: number;
  reconnecting: boolean;
  nextKey: number;
}

export type Action =
  | { type: 'restore'; messages: StoredMessage[] }
  | { type: 'ask'; text: string }
  | { type: 'event'; id: number; event: StreamEvent }
  | { type: 'reconnecting' }
  | { type: 'stop' }
  | { type: 'fail'; failure: Failure }
  | { type: 'settle'; stored: StoredMessage }
  | { type: 'drop-failed' }
  | { type: 'feedback'; id: string; rating: Rating | null }
  | { type: 'reset' };

export const emptyConversation: Conversation = { messages: [], lastEventId: 0, reconnecting: false, nextKey: 1 };

/** Maximum number of messages; older ones are dropped. */
export const MESSAGES_MAX = 200;

const message = (key: number, role: Message['role'], text: string, status: MessageStatus): Message => ({
  key, role, id: '', text, status, stage: 'sending', citations: [], feedback: null, lowConfidence: false, truncated: false, failure: null,
});

/** The answer in progress, if any. */
export function running(state: Conversation): Message | undefined {
  const last = state.messages.at(-1);
  return last && (last.status === 'waiting' || last.status === 'streaming') ? last : undefined;
}

/** The question of the last turn, for a retry. */
export const lastQuestion = (state: Conversation): string | undefined => state.messages.findLast(({ role }) => role === 'user')?.text;

function changeLast(state: Conversation, change: Partial<Message>): Conversation {
  const last = state.messages.at(-1);
  return last ? { ...state, messages: [...state.messages.slice(0, -1), { ...last, ...change }] } : state;
}

/** Stored messages are placed before a turn that has started in the meantime. */
function restored(state: Conversation, stored: StoredMessage[]): Conversation {
  let key = state.nextKey;
  const messages = stored.map((one) => ({
    ...message(key++, one.role, one.content, 'done'), id: one.message_id, citations: one.citations ?? [], feedback: one.feedback ?? null,
  }));
  if (!running(state)) return { ...emptyConversation, messages, nextKey: key };
  return { ...state, messages: [...messages, ...state.messages.slice(-2)].slice(-MESSAGES_MAX), nextKey: key };
}

function asked(state: Conversation, text: string): Conversation {
  const { nextKey: key } = state;
  const messages = [...state.messages, message(key, 'user', text, 'done'), message(key + 1, 'assistant', '', 'waiting')];
  return { messages: messages.slice(-MESSAGES_MAX), lastEventId: 0, reconnecting: false, nextKey: key + 2 };
}

function heard(state: Conversation, event: StreamEvent): Conversation {
  const answer = running(state);
  if (!answer) return state;
  switch (event.event) {
    case 'start':
      return changeLast(state, { id: event.message_id });
    case 'stage':
      return event.stage === 'searching' || event.stage === 'thinking' ? changeLast(state, { stage: event.stage }) : state;
    case 'token':
      return changeLast(state, { status: 'streaming', text: answer.text + event.token });
    case 'replace': // the text so far was no answer; what follows is
      return changeLast(state, { text: '' });
    case 'citations':
      return Array.isArray(event.citations) ? changeLast(state, { citations: event.citations }) : state;
    case 'done':
      return changeLast(state, {
        status: event.outcome === 'stopped' ? 'stopped' : 'done',
        id: event.message_id ?? answer.id,
        lowConfidence: event.low_confidence === true && event.outcome !== 'unknown' && event.outcome !== 'declined',
        truncated: event.truncated === true,
      });
    case 'error':
      return changeLast(state, { status: 'failed', failure: { code: event.code } });
    default:
      return state; // unknown event of a newer server
  }
}

/** Removes a failed turn, because its question is asked again. */
function withoutFailed(state: Conversation): Conversation {
  const last = state.messages.at(-1);
  if (last?.status !== 'failed' && last?.status !== 'stopped') return state;
  const question = state.messages.at(-2);
  return { ...state, messages: state.messages.slice(0, question?.role === 'user' ? -2 : -1) };
}

export function reduce(state: Conversation, action: Action): Conversation {
  switch (action.type) {
    case 'restore':
      return restored(state, action.messages);
    case 'ask':
      return running(state) ? state : asked(state, action.text);
    case 'event':
      if (action.id > 0 && action.id <= state.lastEventId) return state;
      return heard({ ...state, lastEventId: Math.max(action.id, state.lastEventId), reconnecting: false }, action.event);
    case 'reconnecting':
      return running(state) ? { ...state, reconnecting: true } : state;
    case 'stop':
      return running(state) ? { ...changeLast(state, { status: 'stopped' }), reconnecting: false } : state;
    case 'fail':
      return running(state) ? { ...changeLast(state, { status: 'failed', failure: action.failure }), reconnecting: false } : state;
    case 'settle': {
      if (!running(state)) return state;
      const { content, citations = [], message_id: id } = action.stored;
      return { ...changeLast(state, { status: 'done', text: content, citations, id }), reconnecting: false };
    }
    case 'drop-failed':
      return withoutFailed(state);
    case 'feedback':
      return { ...state, messages: state.messages.map((one) => (one.id === action.id && one.role === 'assistant' ? { ...one, feedback: action.rating } : one)) };
    case 'reset':
      return { ...emptyConversation, nextKey: state.nextKey };
  }
}
