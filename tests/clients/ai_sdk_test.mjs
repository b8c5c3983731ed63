// Tests the AI SDK's own transport, versions 6 and 7, with a running server: FOOTNOTE_URL=http://127.0.0.1:7700.
// The SDK checks every chunk against a closed schema, so an unknown chunk fails the stream here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ai6 from 'ai';
import * as ai7 from 'ai7';

const base = process.env.FOOTNOTE_URL;
assert.ok(base, 'FOOTNOTE_URL is not set');

async function ask(sdk, question, api = `${base}/api/kb/chat/stream`) {
  const transport = new sdk.DefaultChatTransport({ api });
  const stream = await transport.sendMessages({
    chatId: 'chat-1',
    messageId: undefined,
    trigger: 'submit-message',
    messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: question }] }],
    abortSignal: undefined,
  });
  const errors = [];
  let message;
  let states = 0;
  for await (const state of sdk.readUIMessageStream({ stream, onError: (error) => errors.push(error) })) {
    message = state;
    states += 1;
  }
  assert.deepEqual(errors, []);
  return { message, states };
}

const text = (message) => message.parts.filter((part) => part.type === 'text').map((part) => part.text).join('');

for (const [name, sdk] of [['ai 6', ai6], ['ai 7', ai7]]) {
  test(`${name}: an answer streams with its sources and citations`, async () => {
    const { message } = await ask(sdk, 'How many days of unused leave can I carry over into next year?');
    assert.match(text(message), /\[1\]/);
    const sources = message.parts.filter((part) => part.type === 'source-url');
    assert.ok(sources.length >= 1);
    assert.equal(sources[0].providerMetadata.footnote.number, 1);
    const citations = message.parts.find((part) => part.type === 'data-citations').data;
    assert.ok(citations.length >= 1);
    for (const citation of citations) {
      const preview = await (await fetch(`${base}/api/kb/documents/${citation.documentId}/preview?version=${citation.version}`)).json();
      const quoted = Array.from(preview.text).slice(citation.sourceStart, citation.sourceEnd).join('');
      assert.equal(quoted, citation.quote);
    }
    assert.match(message.id, /^turn_/);
    assert.equal(message.metadata.refusalReason, null);
  });

  test(`${name}: a refusal is text and metadata, not an error`, async () => {
    const { message } = await ask(sdk, 'Who painted the Night Watch?');
    assert.equal(message.metadata.refusalReason, 'no_relevant_context');
    assert.ok(text(message).length > 0);
    assert.equal(message.parts.find((part) => part.type === 'data-confidence').data.tier, 'refused');
    assert.equal(message.parts.filter((part) => part.type === 'source-url').length, 0);
  });

  test(`${name}: an error before the stream is an HTTP error that says what is wrong`, async () => {
    await assert.rejects(ask(sdk, '   '), (error) => /messages/.test(String(error.message)));
  });
}
