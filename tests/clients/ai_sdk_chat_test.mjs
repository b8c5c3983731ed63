// Tests conversations with the AI SDK's own transport, versions 6 and 7, and a server whose language model is slow:
// FOOTNOTE_URL=http://127.0.0.1:7700. Run by tests/server/conversations_test.py.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ai6 from 'ai';
import * as ai7 from 'ai7';

const base = process.env.FOOTNOTE_URL;
assert.ok(base, 'FOOTNOTE_URL is not set');
const QUESTION = 'How many days of unused leave can I carry over into next year?';
const FOREIGN = 'Who painted the Night Watch?';

const text = (message) => message.parts.filter((part) => part.type === 'text').map((part) => part.text).join('');
const conversation = async (id) => (await fetch(`${base}/api/kb/conversations/${id}`)).json();
const user = (id, words) => ({ id, role: 'user', parts: [{ type: 'text', text: words }] });

async function readAll(sdk, stream, onState = async () => {}) {
  const errors = [];
  let message;
  for await (const state of sdk.readUIMessageStream({ stream, onError: (error) => errors.push(error) })) {
    message = state;
    await onState(state);
  }
  assert.deepEqual(errors, []);
  return message;
}

for (const [name, sdk] of [['ai 6', ai6], ['ai 7', ai7]]) {
  const transport = new sdk.DefaultChatTransport({ api: `${base}/api/kb/chat/stream` });
  const send = (chatId, messages, more = {}) =>
    transport.sendMessages({ chatId, messages, trigger: 'submit-message', messageId: undefined, abortSignal: undefined, ...more });
  const chat = (what) => `${name.replace(' ', '')}-${what}`;

  test(`${name}: an answer is regenerated as a sibling`, async () => {
    const id = chat('again');
    const first = await readAll(sdk, await send(id, [user('u1', QUESTION)]));
    assert.equal(first.metadata.conversationId, id);
    assert.equal(first.metadata.userMessageId, 'u1');
    const second = await readAll(sdk, await send(id, [user('u1', QUESTION)], { trigger: 'regenerate-message', messageId: first.id }));
    assert.notEqual(second.id, first.id);
    const { messages } = await conversation(id);
    assert.deepEqual(messages.map((message) => message.parent_id), [null, 'u1', 'u1']);
  });

  test(`${name}: a stream that the client left is resumed from its start`, async () => {
    const id = chat('resumed');
    const leaving = new AbortController();
    const reader = (await send(id, [user('u1', QUESTION)], { abortSignal: leaving.signal })).getReader();
    for (let chunk = (await reader.read()).value; chunk?.type !== 'text-delta'; chunk = (await reader.read()).value) assert.ok(chunk);
    leaving.abort();
    await reader.cancel().catch(() => {});
    const resumed = await transport.reconnectToStream({ chatId: id });
    assert.ok(resumed, 'the answer is still being written');
    const message = await readAll(sdk, resumed);
    assert.match(text(message), /^Five days may be carried over.*\[1\]\.$/);
    assert.ok(message.parts.some((part) => part.type === 'source-url'));
    assert.equal(message.id, (await conversation(id)).active_leaf);
    assert.equal(await transport.reconnectToStream({ chatId: id }), null);
  });

  test(`${name}: a stopped answer ends with what was said`, async () => {
    const id = chat('stopped');
    let stopped = false;
    const message = await readAll(sdk, await send(id, [user('u1', QUESTION)]), async (state) => {
      if (stopped || !text(state)) return;
      stopped = true;
      assert.equal((await fetch(`${base}/api/kb/conversations/${id}/stop`, { method: 'POST', headers: { 'content-type': 'application/json' } })).status, 204);
    });
    assert.ok(text(message).startsWith('Five days'));
    const stored = (await conversation(id)).messages.at(-1);
    assert.equal(stored.partial, true);
    assert.equal(stored.text, text(message));
  });

  test(`${name}: a refusal is text, data and metadata`, async () => {
    const message = await readAll(sdk, await send(chat('refused'), [user('u1', FOREIGN)]));
    assert.equal(message.metadata.refusalReason, 'no_relevant_context');
    assert.equal(message.parts.find((part) => part.type === 'data-refusal').data.body, text(message));
    assert.equal(message.parts.find((part) => part.type === 'data-confidence').data.confidence, null);
  });
}
