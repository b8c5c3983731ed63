// One conversation: the AI SDK's chat over the server's tree of messages.

import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { readAnswer, textOf, type Message } from '../lib/answer';
import { fetchConversation, patchConversation, request, ServerError, stopConversation } from '../lib/api';
import { filterBody, type Filters } from '../lib/filters';
import { chatPath, go } from '../lib/place';
import { newestLeaf, pathTo, readTree, siblings, type Tree } from '../lib/tree';
import { Answer, meterText, type AnswerActions } from './Answer';
import type { ComposerHandle } from './Composer';
import { Composer } from './Composer';
import { useLatest } from './controls';
import { BranchSteps, Question } from './Question';
import type { OpenSource } from './SourcePanel';

const REDRAW_MS = 50;

export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(36).padStart(2, '0')).join('').slice(0, 22);

function makeTransport() {
  return new DefaultChatTransport<Message>({
    api: '/api/kb/chat/stream',
    fetch: request as typeof fetch,
    // The server has the conversation; it needs the new question and its place alone.
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
      body: { ...body, id, trigger, messageId: messageId ?? body?.messageId, messages: messages.slice(-1).filter(({ role }) => role === 'user').map(({ id: own, role, parts }) => ({ id: own, role, parts })) },
    }),
  });
}

export interface ConversationProps {
  id: string;
  isNew: boolean;
  message: string; // the message that the address names
  filters: Filters;
  mayAdd: boolean;
  onSetFilters: (filters: Filters) => void;
  onFilters: () => void;
  onAdd: (kind: 'files' | 'folder') => void;
  onChanged: () => void;
  openSource: (open: OpenSource) => void;
  welcome: (ask: (question: string) => void) => React.ReactNode;
  composer: React.RefObject<ComposerHandle | null>;
  onBusy: (busy: boolean, stop: () => void) => void;
}

export function Conversation({ id, isNew, message, filters, mayAdd, onSetFilters, onFilters, onAdd, onChanged, openSource, welcome, composer, onBusy }: ConversationProps) {
  const [tree, setTree] = useState<Tree | null>(null);
  const [loading, setLoading] = useState(!isNew);
  const [trouble, setTrouble] = useState('');
  const [stopped, setStopped] = useState<string | null>(null);
  const [editing, setEditing] = useState('');
  const transport = useMemo(makeTransport, []);
  const chat = useChat<Message>({ id, transport, generateId: newId, experimental_throttle: REDRAW_MS, onFinish: () => void refresh() });
  const { messages, setMessages, sendMessage, regenerate, status, error, clearError, resumeStream } = chat;
  const busy = status === 'submitted' || status === 'streaming';
  const now = useLatest({ tree, messages, filters, busy });

  /** Reads the tree again; what is shown stays, as it is at least as new. */
  const refresh = useCallback(async () => {
    onChanged();
    try {
      const found = readTree(await fetchConversation(id));
      setTree(found);
      // Tokens and costs may be known only after the last token.
      if (!now.current.busy) setMessages((shown) => shown.map((item) => ({ ...item, metadata: { ...found.nodes.get(item.id)?.message.metadata, ...item.metadata } })));
    } catch {
      // The answer is there; versions and ratings appear with the next refresh.
    }
  }, [id, onChanged]);

  useEffect(() => {
    if (isNew) return;
    let current = true;
    void (async () => {
      try {
        const found = readTree(await fetchConversation(id));
        if (!current) return;
        const wanted = message && found.nodes.has(message) ? newestLeaf(found, message) : found.leaf || newestLeaf(found, [...found.nodes.keys()][0] ?? '');
        setTree(found);
        setMessages(pathTo(found, wanted));
        setLoading(false);
        await resumeStream();
      } catch (cause) {
        if (current) {
          setLoading(false);
          setTrouble(cause instanceof ServerError && cause.status === 404 ? 'This conversation does not exist, or belongs to somebody else.' : cause instanceof Error ? cause.message : 'The conversation could not be read.');
        }
      }
    })();
    return () => { current = false; };
  }, []);

  const scrolled = useRef('');
  useEffect(() => {
    if (loading || !message || scrolled.current === message) return;
    const target = document.getElementById(`m-${message}`);
    if (!target) return;
    scrolled.current = message;
    target.scrollIntoView({ block: 'start' });
    target.focus({ preventScroll: true });
  }, [loading, message, messages.length]);

  /** The last message that the server has; a new question is put below it. */
  const parentBefore = (index: number) => now.current.messages.slice(0, index).findLast((item) => now.current.tree?.nodes.has(item.id) ?? true)?.id ?? '';

  const begin = () => {
    clearError();
    setTrouble('');
    setStopped(null);
    if (isNew && now.current.messages.length === 0) history.replaceState(null, '', chatPath(id));
  };
  const ask = (text: string) => {
    if (now.current.busy) return;
    const parentId = parentBefore(now.current.messages.length);
    begin();
    void sendMessage({ text }, { body: { ...filterBody(now.current.filters), parentId } });
  };
  const edit = (index: number, text: string) => {
    const replaced = now.current.messages[index]!;
    const known = now.current.tree?.nodes.has(replaced.id) ?? false;
    const parentId = parentBefore(index);
    begin();
    setMessages(now.current.messages.slice(0, index));
    void sendMessage({ text }, { body: { ...filterBody(now.current.filters), parentId, ...(known && { messageId: replaced.id }) } });
  };
  /** Answers again: below the same question, if the server has it. */
  const again = (index: number) => {
    const shown = now.current.messages;
    const question = shown.slice(0, index + 1).findLastIndex(({ role }) => role === 'user');
    const known = [shown[index], shown[question]].find((item) => item && now.current.tree?.nodes.has(item.id));
    if (!known) return question >= 0 ? edit(question, textOf(shown[question]!)) : undefined;
    begin();
    void regenerate({ messageId: known.id, body: filterBody(now.current.filters) });
  };
  const pick = (wanted: string) => {
    if (!tree) return;
    const leaf = newestLeaf(tree, wanted);
    setTree({ ...tree, leaf });
    setStopped(null);
    clearError();
    setMessages(pathTo(tree, leaf));
    patchConversation(id, { active_leaf: leaf }).catch(() => undefined);
  };
  const stop = useCallback(() => {
    const last = now.current.messages.at(-1);
    setStopped(last?.role === 'assistant' ? last.id : '');
    void Promise.allSettled([stopConversation(id), chat.stop()]).then(refresh);
  }, [id, chat.stop, refresh]);
  useEffect(() => onBusy(busy, stop), [busy, stop]);

  const handlers = useLatest({ ask, again });
  const actions = useRef(new Map<string, AnswerActions>());
  const actionsOf = (index: number, own: string): AnswerActions => {
    const key = `${index} ${own}`;
    const known = actions.current.get(key) ?? {
      openSource,
      ask: (question: string) => handlers.current.ask(question),
      regenerate: () => handlers.current.again(index),
      link: () => new URL(chatPath(id, own), location.href).href,
    };
    actions.current.set(key, known);
    return known;
  };

  const turns: { question: Message; questionAt: number; answer: Message | null; answerAt: number }[] = [];
  for (const [i, item] of messages.entries()) {
    if (item.role === 'user') turns.push({ question: item, questionAt: i, answer: null, answerAt: -1 });
    else if (turns.length > 0) Object.assign(turns.at(-1)!, { answer: item, answerAt: i });
  }
  // A new question goes to the top of the page, and its answer grows below it without moving it.
  const count = useRef(0);
  useEffect(() => {
    if (busy && count.current > 0 && turns.length > count.current) document.querySelector('.turn:last-of-type')?.scrollIntoView({ block: 'start' });
    count.current = turns.length;
  }, [turns.length, busy]);
  const title = turns.length > 0 ? tree?.title || textOf(turns[0]!.question) : '';
  useEffect(() => {
    document.title = title ? `${title.slice(0, 80)} · Footnote` : 'Footnote';
    return () => { document.title = 'Footnote'; };
  }, [title]);
  const totals = messages.filter(({ role }) => role === 'assistant').map((item) => readAnswer(item).usage).filter((usage) => usage !== null);
  const total = totals.length > 1 && totals.reduce((sum, usage) => ({ ...sum, prompt: sum.prompt + usage.prompt, completion: sum.completion + usage.completion,
    estimated: sum.estimated || usage.estimated, cost: sum.cost === null || usage.cost === null ? sum.cost ?? usage.cost : sum.cost + usage.cost }));
  const failure = trouble || (error ? error.message : '');
  const announced = !busy && turns.at(-1)?.answer ? readAnswer(turns.at(-1)!.answer!) : null;
  return (
    <>
      <div className="conversation">
        {loading && <p className="progress">Opening the conversation</p>}
        {!loading && messages.length === 0 && !trouble && welcome(ask)}
        {turns.length > 0 && <h1 className="visually-hidden">{title}</h1>}
        {turns.map(({ question, questionAt, answer, answerAt }, i) => {
          const isLast = i === turns.length - 1;
          const streaming = isLast && busy;
          return (
            <article className="turn" key={i} id={`m-${(answer ?? question).id}`} tabIndex={-1} data-message={(answer ?? question).id} aria-busy={streaming}>
              <Question text={textOf(question)} busy={busy} editing={editing === question.id} onEditing={(on) => setEditing(on ? question.id : '')} onEdit={(text) => edit(questionAt, text)}
                branch={tree && <BranchSteps ids={siblings(tree, question.id)} current={question.id} label="question" busy={busy} onPick={pick} />} />
              {answer ? (
                <Answer view={readAnswer(answer)} question={textOf(question)} streaming={streaming} isLast={isLast} busy={busy} project={filters.project}
                  stopped={stopped === answer.id || (!streaming && readAnswer(answer).partial)} feedback={tree?.nodes.get(answer.id)?.feedback ?? null} actions={actionsOf(answerAt, answer.id)}
                  branch={tree && siblings(tree, answer.id).length > 1 ? <BranchSteps ids={siblings(tree, answer.id)} current={answer.id} label="answer" busy={busy} onPick={pick} /> : null} />
              ) : streaming ? <p className="progress">Looking it up</p>
                : isLast && failure ? null
                : <p className="notice">{stopped !== null && isLast ? 'Stopped.' : 'This question has no answer.'} <button type="button" className="link-button" disabled={busy} onClick={() => again(questionAt)}>Ask it again</button></p>}
            </article>
          );
        })}
        {failure && (
          <div className="notice notice-error">
            <p role="alert">{failure}</p>
            {turns.length > 0 && <button type="button" className="link-button" onClick={() => again(messages.length - 1)}>Try again</button>}
            {turns.length === 0 && <button type="button" className="link-button" onClick={() => go(chatPath())}>Start a new conversation</button>}
          </div>
        )}
        {total && <p className="total">This conversation: {meterText(total)}</p>}
        <p className="visually-hidden" role="status">{announced && (announced.refusal ? `No answer. ${announced.refusal.body}` : announced.text.replace(/\s*\[[\d, ]+\]/g, '').replace(/[*`#|]/g, '').slice(0, 600))}</p>
      </div>
      <div className="composer-place">
        <Composer ref={composer} busy={busy} filters={filters} mayAdd={mayAdd} onSetFilters={onSetFilters} onFilters={onFilters} onAdd={onAdd} onSend={ask} onStop={stop}
          placeholder={messages.length === 0 ? 'What would you like to know?' : 'Ask a follow-up'}
          onEditLast={() => { const last = turns.at(-1); if (last && !busy) setEditing(last.question.id); }} />
      </div>
    </>
  );
}
