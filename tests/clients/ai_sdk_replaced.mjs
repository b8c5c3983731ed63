// Asks a server whose language model repeats itself (FOOTNOTE_URL; started by tests/server/no_answer_test.py) with the AI SDK's own transport,
// versions 6 and 7, which check every chunk against a closed schema.
import assert from 'node:assert/strict';
import * as ai6 from 'ai';
import * as ai7 from 'ai7';

for (const sdk of [ai6, ai7]) {
  const transport = new sdk.DefaultChatTransport({ api: `${process.env.FOOTNOTE_URL}/api/kb/chat/stream` });
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: process.argv[2] }] }];
  const stream = await transport.sendMessages({ chatId: 'c', messageId: undefined, trigger: 'submit-message', messages, abortSignal: undefined });
  const errors = [];
  let message;
  for await (const state of sdk.readUIMessageStream({ stream, onError: (error) => errors.push(error) })) message = state;
  assert.deepEqual(errors, []);
  const kinds = message.parts.map(({ type }) => type).filter((type) => type === 'text' || type === 'data-replace');
  assert.deepEqual(kinds, ['text', 'data-replace', 'text']);
  const [withdrawn, answer] = message.parts.filter(({ type }) => type === 'text');
  assert.match(withdrawn.text, /\(Withdrawn: /);
  assert.match(answer.text, /\[1\]/);
  assert.equal(answer.state, 'done');
  const ids = message.parts.filter(({ type }) => type === 'source-url').map(({ sourceId }) => sourceId);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(message.metadata.fallback, 'loop');
}
