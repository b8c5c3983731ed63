// Tests OpenAI's own client with a running server: FOOTNOTE_URL=http://127.0.0.1:7700. It requests base64 by default.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';

const base = process.env.FOOTNOTE_URL;
assert.ok(base, 'FOOTNOTE_URL is not set');

const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none-needed', maxRetries: 0 });
const { model, dim } = await (await fetch(`${base}/model`)).json();
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

test('floats and base64 are the same vectors, in the order of the texts', async () => {
  const input = ['Shipping takes three days.', 'How long does shipping take?', 'The cat sleeps on the sofa.', ''];
  const floats = await client.embeddings.create({ model, input, encoding_format: 'float' });
  const packed = await client.embeddings.create({ model, input });
  assert.equal(floats.model, model);
  assert.deepEqual(floats.data.map((entry) => entry.index), [0, 1, 2, 3]);
  for (const [i, { embedding }] of floats.data.entries()) {
    assert.equal(embedding.length, dim);
    assert.ok(Math.abs(dot(embedding, embedding) - 1) < 1e-4);
    assert.deepEqual(Array.from(packed.data[i].embedding), embedding.map(Math.fround));
  }
  const [passage, question, other] = floats.data.map((entry) => entry.embedding);
  assert.ok(dot(question, passage) > dot(question, other) + 0.1);
  assert.ok(floats.usage.prompt_tokens >= 4 && floats.usage.total_tokens === floats.usage.prompt_tokens);
});

test('one text, and fewer dimensions', async () => {
  const { data } = await client.embeddings.create({ model: `sentence-transformers/${model}`, input: 'Harbour', dimensions: 8 });
  assert.equal(data.length, 1);
  assert.equal(data[0].embedding.length, 8);
  assert.ok(Math.abs(dot(data[0].embedding, data[0].embedding) - 1) < 1e-4);
});

test('what is wrong reaches the caller as the error that the client knows', async () => {
  const wrong = async (body) => client.embeddings.create({ model, ...body }).then(() => assert.fail('taken'), (error) => error);
  for (const [body, param] of [[{ input: [] }, 'input'], [{ input: [1, 2, 3] }, 'input'], [{ input: 'x', dimensions: dim + 1 }, 'dimensions']]) {
    const error = await wrong(body);
    assert.ok(error instanceof OpenAI.BadRequestError, String(error));
    assert.equal(error.param, param);
    assert.equal(error.type, 'invalid_request_error');
  }
  const unknown = await wrong({ model: 'text-embedding-3-small', input: 'x' });
  assert.ok(unknown instanceof OpenAI.NotFoundError);
  assert.match(unknown.message, new RegExp(model));
  assert.equal((await wrong({ input: Array(2049).fill('x') })).status, 413);
});
