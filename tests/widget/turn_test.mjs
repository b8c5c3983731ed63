// Tests a turn over a connection that breaks in many ways.

import test from 'node:test';
import assert from 'node:assert/strict';
import { ApiError } from '../../web/widget/api.ts';
import { emptyConversation, reduce } from '../../web/widget/conversation.ts';
import { RESUME_WAITS_MS, runTurn } from '../../web/widget/turn.ts';

const start = { id: 1, event: { event: 'start', conversation_id: 'c', message_id: 'm1' } };
const token = (id, text) => ({ id, event: { event: 'token', token: text } });
const done = (id) => ({ id, event: { event: 'done', message_id: 'm1' } });
const network = () => new ApiError(0, 'network');

/** Plays one script per call: events, then an error or the end. Returns the calls and the outcome. */
async function play(scripts, { stored = [], renewFails = false, beginning = { question: { message: 'Q' } }, abortAfter } = {}) {
  const calls = [];
  const control = new AbortController();
  let state = reduce(emptyConversation, { type: 'ask', text: 'Q' });
  let events = 0;
  async function* stream(name) {
    calls.push(name);
    for (const part of scripts.shift() ?? []) {
      if (part instanceof Error) throw part;
      yield part;
      if (++events === abortAfter) control.abort();
    }
  }
  await runTurn({
    ask: ({ message }) => stream(`ask ${message}`),
    resume: (id, last) => stream(`resume ${id} ${last}`),
    renew: async () => { calls.push('renew'); if (renewFails) throw new ApiError(401, 'invalid_token'); return stored; },
    dispatch: (action) => (state = reduce(state, action)),
    wait: async (ms) => { calls.push(`wait ${ms}`); },
    started: (id) => calls.push(`started ${id}`),
  }, beginning, control.signal);
  const { status, text, failure } = state.messages.at(-1);
  return { calls, status, text, code: failure?.code, failure };
}

test('one call when nothing breaks', async () => {
  assert.deepEqual(await play([[start, token(2, 'a'), done(3)]]), { calls: ['ask Q', 'started m1'], status: 'done', text: 'a', code: undefined, failure: null });
});

for (const [name, last] of [['breaks', network()], ['ends too early', undefined], ['fails at a proxy', new ApiError(502, 'http_502')]]) {
  test(`a stream that ${name} is taken up after its last event, and nothing is said twice`, async () => {
    const { calls, status, text } = await play([[start, token(2, 'a'), ...(last ? [last] : [])], [token(2, 'a'), token(3, 'b'), done(4)]]);
    assert.deepEqual(calls, ['ask Q', 'started m1', `wait ${RESUME_WAITS_MS[0]}`, 'resume m1 2']);
    assert.deepEqual([status, text], ['done', 'ab']);
  });
}

test('waits grow, then it is given up; what was said stays', async () => {
  const { calls, status, text, code } = await play([[start, token(2, 'a'), network()], ...Array(9).fill([network()])]);
  assert.deepEqual(calls.filter((call) => call.startsWith('wait')), RESUME_WAITS_MS.map((ms) => `wait ${ms}`));
  assert.deepEqual([status, text, code], ['failed', 'a', 'network']);
});

test('a question that may not have arrived is not sent twice', async () => {
  const { calls, status, code } = await play([[network()]]);
  assert.deepEqual([calls, status, code], [['ask Q'], 'failed', 'network']);
});

test('an expired token is renewed once, silently', async () => {
  const { calls, status } = await play([[new ApiError(401, 'invalid_token')], [start, done(2)]]);
  assert.deepEqual([calls, status], [['ask Q', 'renew', 'ask Q', 'started m1'], 'done']);
  const again = await play([[new ApiError(401, 'invalid_token')], [new ApiError(401, 'invalid_token')], [start, done(2)]]);
  assert.deepEqual([again.status, again.code], ['failed', 'invalid_token']);
  assert.equal((await play([[new ApiError(401, 'invalid_token')]], { renewFails: true })).code, 'invalid_token');
});

test('a quota is told with its wait', async () => {
  const { failure } = await play([[new ApiError(429, 'message_quota_exceeded', 60)]]);
  assert.deepEqual(failure, { code: 'message_quota_exceeded', retryAfterSeconds: 60 });
});

test('a stream that is gone: the stored answer, or a failure', async () => {
  const gone = () => [[start, token(2, 'a'), network()], [new ApiError(404, 'message_not_found')]];
  const stored = [{ role: 'assistant', message_id: 'm1', content: 'all of it', citations: [] }];
  assert.deepEqual((({ status, text }) => [status, text])(await play(gone(), { stored })), ['done', 'all of it']);
  assert.equal((await play(gone())).code, 'network');
});

test('a turn of the page before is taken up from its beginning', async () => {
  const { calls, text } = await play([[start, token(2, 'a'), done(3)]], { beginning: { messageId: 'm1' } });
  assert.deepEqual([calls[0], text], ['resume m1 0', 'a']);
});

test('an error of the server is the end', async () => {
  const { calls, code } = await play([[start, { id: 2, event: { event: 'error', code: 'llm_failed' } }]]);
  assert.deepEqual([calls, code], [['ask Q', 'started m1'], 'llm_failed']);
});

test('a stopped turn hears nothing more', async () => {
  const { calls, text, status } = await play([[start, token(2, 'a'), token(3, 'b'), done(4)]], { abortAfter: 2 });
  assert.deepEqual([calls, text, status], [['ask Q', 'started m1'], 'a', 'streaming']);
});
