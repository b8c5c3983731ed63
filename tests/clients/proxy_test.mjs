// Tests OpenAI-compatible clients with a running server and a model server behind it: FOOTNOTE_URL=http://127.0.0.1:7700.
// tests/server/fake_upstream.py defines what each model does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, embedMany, generateText, streamText } from 'ai7';

const base = process.env.FOOTNOTE_URL;
assert.ok(base, 'FOOTNOTE_URL is not set');

const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none-needed', maxRetries: 0 });
const compatible = createOpenAICompatible({ name: 'footnote', baseURL: `${base}/v1`, includeUsage: true });
const openai = createOpenAI({ baseURL: `${base}/v1`, apiKey: 'none-needed' });
const question = 'Summarise the latest Qdrant release.';
const messages = [{ role: 'user', content: question }];
const answer = /hybrid search throughput and faster filters \[1\]\[2\]/;
const { model: embedder, dim } = await (await fetch(`${base}/model`)).json();

test('openai: a chat, whole', async () => {
  const completion = await client.chat.completions.create({ model: 'rag/phi3-en', messages });
  assert.equal(completion.model, 'rag/phi3-en');
  assert.match(completion.choices[0].message.content, answer);
  assert.deepEqual(completion.usage, { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
  const { type, url_citation: cited } = completion.choices[0].message.annotations[0];
  assert.equal(type, 'url_citation');
  assert.equal(completion.choices[0].message.content.slice(cited.start_index, cited.end_index), '[1]');
  assert.match(cited.url, /^https:\/\/qdrant\.tech\//);
});

test('openai: a chat, streamed, with usage', async () => {
  const stream = await client.chat.completions.create({ model: 'rag/phi3-en', messages, stream: true, stream_options: { include_usage: true } });
  let text = '';
  let usage = null;
  for await (const chunk of stream) {
    assert.equal(chunk.model, 'rag/phi3-en');
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  assert.match(text, answer);
  assert.equal(usage.total_tokens, 10);
});

test('openai: errors have their classes', async () => {
  const failed = async (body) => client.chat.completions.create({ model: 'rag/phi3-en', messages, ...body }).then(() => assert.fail('taken'), (error) => error);
  const busy = await failed({ model: 'rag/busy' });
  assert.ok(busy instanceof OpenAI.RateLimitError);
  assert.equal(busy.code, 'rate_limit_exceeded');
  assert.ok(busy.requestID);
  assert.ok((await failed({ model: 'rag/nowhere' })) instanceof OpenAI.NotFoundError);
  assert.ok((await failed({ messages: [] })) instanceof OpenAI.BadRequestError);
  assert.ok((await failed({ model: 'rag/broken' })) instanceof OpenAI.InternalServerError);
  const broken = await client.chat.completions.create({ model: 'rag/truncated', messages, stream: true });
  await assert.rejects(async () => { for await (const _ of broken); }, (error) => error instanceof OpenAI.APIError && error.type === 'server_error');
});

test('openai: models', async () => {
  const names = [];
  for await (const entry of client.models.list()) names.push(entry.id);
  for (const name of ['local/phi3-en', 'rag/phi3-en', 'rag/footnote', embedder]) assert.ok(names.includes(name), name);
  assert.equal((await client.models.retrieve('rag/phi3-en')).id, 'rag/phi3-en');
});

test('openai: responses, whole and streamed', async () => {
  const response = await client.responses.create({ model: 'rag/phi3-en', input: question });
  assert.match(response.output_text, answer);
  assert.equal(response.output[0].content[0].annotations[0].type, 'url_citation');
  assert.equal(response.usage.total_tokens, 10);
  const stream = client.responses.stream({ model: 'rag/phi3-en', input: question });
  let text = '';
  for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
  assert.match(text, answer);
  assert.match((await stream.finalResponse()).output_text, answer);
});

test('openai: embeddings stay the built-in ones', async () => {
  const { data } = await client.embeddings.create({ model: embedder, input: 'Harbour' });
  assert.equal(data[0].embedding.length, dim);
});

for (const [name, model] of [['openai-compatible', compatible('rag/phi3-en')], ['openai chat', openai.chat('rag/phi3-en')], ['openai responses', openai('rag/phi3-en')]]) {
  test(`AI SDK, ${name}: generate`, async () => {
    const { text, usage, finishReason } = await generateText({ model, prompt: question, maxRetries: 0 });
    assert.match(text, answer);
    assert.equal(finishReason, 'stop');
    assert.equal(usage.inputTokens, 7);
    assert.equal(usage.outputTokens, 3);
  });

  test(`AI SDK, ${name}: stream`, async () => {
    const result = streamText({ model, prompt: question, maxRetries: 0 });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    assert.match(text, answer);
    assert.equal((await result.usage).outputTokens, 3);
  });
}

test('AI SDK: annotations arrive as sources', async () => {
  for (const model of [openai('rag/phi3-en'), openai.chat('rag/phi3-en')]) {
    const { sources } = await generateText({ model, prompt: question, maxRetries: 0 });
    assert.ok(sources.some((source) => source.url === 'https://qdrant.tech/changelog/'));
  }
});

test('AI SDK: errors', async () => {
  for (const provider of [compatible, openai, openai.chat]) {
    const failed = await generateText({ model: provider('rag/busy'), prompt: question, maxRetries: 0 }).catch((error) => error);
    assert.ok(APICallError.isInstance(failed), String(failed));
    assert.equal(failed.statusCode, 429);
    assert.match(failed.message, /slow down/);
  }
});

test('AI SDK: embeddings', async () => {
  const { embeddings } = await embedMany({ model: compatible.embeddingModel(embedder), values: ['a', 'b'] });
  assert.deepEqual(embeddings.map((embedding) => embedding.length), [dim, dim]);
});

test('the built-in model answers all of them', async () => {
  const completion = await client.chat.completions.create({ model: 'rag/footnote', messages });
  assert.ok(completion.choices[0].message.content.length > 0);
  for (const model of [compatible('rag/footnote'), openai('rag/footnote')]) {
    assert.ok((await generateText({ model, prompt: question, maxRetries: 0 })).text.length > 0);
  }
});
