// Tests the conversation reducer: every action, and those that must change nothing.

import test from 'node:test';
import assert from 'node:assert/strict';
import { emptyConversation, lastQuestion, MESSAGES_MAX, reduce, running } from '../../web/widget/conversation.ts';

const after = (...actions) => actions.reduce(reduce, emptyConversation);
const ask = (text = 'How long?') => ({ type: 'ask', text });
let number = 0;
const event = (value, id = ++number) => ({ type: 'event', id, event: value });
const start = () => { number = 0; return event({ event: 'start', conversation_id: 'c', message_id: 'm1' }); };
const token = (text) => event({ event: 'token', token: text });
const done = (more = {}) => event({ event: 'done', message_id: 'm1', ...more });
const last = (state) => state.messages.at(-1);

test('a question waits, streams and is done', () => {
  let state = after(ask());
  assert.deepEqual(state.messages.map(({ role, status, text }) => [role, status, text]), [['user', 'done', 'How long?'], ['assistant', 'waiting', '']]);
  state = [start(), event({ event: 'stage', stage: 'searching' })].reduce(reduce, state);
  assert.equal(last(state).stage, 'searching');
  assert.equal(last(state).id, 'm1');
  state = [token('30 '), token('days [1].')].reduce(reduce, state);
  assert.equal(last(state).status, 'streaming');
  assert.equal(last(state).text, '30 days [1].');
  const citations = [{ id: 1, url: 'https://a.example', title: 'A', start: 0, end: 5, support: 'supported' }];
  state = [event({ event: 'citations', citations }), done({ low_confidence: true, truncated: true })].reduce(reduce, state);
  assert.equal(running(state), undefined);
  assert.deepEqual([last(state).status, last(state).lowConfidence, last(state).truncated, last(state).citations], ['done', true, true, citations]);
});

test('events that come again after a resume are known by their number', () => {
  const state = after(ask(), start(), token('a'), token('b'));
  assert.equal(reduce(state, event({ event: 'token', token: 'b' }, 3)), state);
  assert.equal(last(reduce(state, event({ event: 'token', token: 'c' }, 4))).text, 'abc');
});

test('a new question counts events anew', () => {
  const state = after(ask(), start(), token('a'), done(), ask('And?'));
  assert.equal(state.lastEventId, 0);
  assert.equal(last(reduce(state, start())).id, 'm1');
});

test('nothing is asked while an answer is under way', () => {
  const state = after(ask(), start());
  assert.equal(reduce(state, ask('Another')), state);
});

test('what comes after the end changes nothing', () => {
  for (const end of [done(), { type: 'stop' }, { type: 'fail', failure: { code: 'network' } }]) {
    const state = after(ask(), start(), end);
    for (const late of [{ type: 'stop' }, { type: 'fail', failure: { code: 'x' } }, { type: 'reconnecting' }]) assert.equal(reduce(state, late), state);
    assert.equal(last(reduce(state, event({ event: 'token', token: 'late' }, 99))).text, '');
  }
});

test('an error of the stream fails the turn, and keeps what was said', () => {
  const state = after(ask(), start(), token('Half'), event({ event: 'error', code: 'llm_failed' }));
  assert.deepEqual([last(state).status, last(state).text, last(state).failure], ['failed', 'Half', { code: 'llm_failed' }]);
});

test('stopped by the server is stopped; unknown and declined answers are not called uncertain', () => {
  assert.equal(last(after(ask(), start(), done({ outcome: 'stopped' }))).status, 'stopped');
  for (const outcome of ['unknown', 'declined']) assert.equal(last(after(ask(), start(), done({ outcome, low_confidence: true }))).lowConfidence, false);
});

test('reconnecting is over with the next event', () => {
  const state = after(ask(), start(), { type: 'reconnecting' });
  assert.equal(state.reconnecting, true);
  assert.equal(reduce(state, token('a')).reconnecting, false);
});

test('a failed or stopped turn leaves before it is asked again, a finished one stays', () => {
  const failed = after(ask(), start(), { type: 'fail', failure: { code: 'network' } });
  assert.equal(lastQuestion(failed), 'How long?');
  assert.equal(reduce(failed, { type: 'drop-failed' }).messages.length, 0);
  const finished = after(ask(), start(), done());
  assert.equal(reduce(finished, { type: 'drop-failed' }), finished);
});

test('a stored answer settles the turn that lost its stream', () => {
  const stored = { role: 'assistant', message_id: 'm1', content: 'Whole.', citations: [] };
  const state = after(ask(), start(), token('Wh'), { type: 'settle', stored });
  assert.deepEqual([last(state).status, last(state).text], ['done', 'Whole.']);
});

test('what the server has stored is restored, feedback included, under keys of its own', () => {
  const state = after(ask(), start(), done(), { type: 'restore', messages: [
    { role: 'user', message_id: 'm1', content: 'Q' }, { role: 'assistant', message_id: 'm1', content: 'A', feedback: 'up' },
  ] });
  assert.deepEqual(state.messages.map(({ key, text, status, feedback }) => [key, text, status, feedback]), [[3, 'Q', 'done', null], [4, 'A', 'done', 'up']]);
});

test('what is stored comes before a turn that has begun meanwhile', () => {
  const state = after(ask(), start(), token('a'), { type: 'restore', messages: [
    { role: 'user', message_id: 'm0', content: 'Q' }, { role: 'assistant', message_id: 'm0', content: 'A' },
  ] });
  assert.deepEqual(state.messages.map(({ key, text }) => [key, text]), [[3, 'Q'], [4, 'A'], [1, 'How long?'], [2, 'a']]);
  assert.equal(last(reduce(state, token('b'))).text, 'ab');
});

test('citations that are no list are passed over', () => {
  assert.deepEqual(last(after(ask(), start(), event({ event: 'citations' }), done())).citations, []);
});

test('feedback goes to the answer of that name alone', () => {
  const state = after({ type: 'restore', messages: [
    { role: 'user', message_id: 'm1', content: 'Q' }, { role: 'assistant', message_id: 'm1', content: 'A' }, { role: 'assistant', message_id: 'm2', content: 'B' },
  ] }, { type: 'feedback', id: 'm1', rating: 'down' });
  assert.deepEqual(state.messages.map(({ feedback }) => feedback), [null, 'down', null]);
});

test('a conversation lets go of its oldest messages', () => {
  let state = emptyConversation;
  for (let i = 0; i < MESSAGES_MAX; i++) state = [ask(`${i}`), start(), done()].reduce(reduce, state);
  assert.equal(state.messages.length, MESSAGES_MAX);
  assert.equal(lastQuestion(state), `${MESSAGES_MAX - 1}`);
});

test('reset leaves nothing but the keys that were used', () => {
  const state = after(ask(), { type: 'reset' });
  assert.deepEqual([state.messages.length, state.nextKey], [0, 3]);
});

test('an event of a newer server is passed over', () => {
  const state = after(ask(), start());
  assert.deepEqual(reduce(state, event({ event: 'music' })).messages, state.messages);
});

test('a text that is no answer is replaced by what follows', () => {
  const state = after(ask(), start(), token('The answer is: '), token('\n\n(Please ignore this.)\n\n'), event({ event: 'replace', reason: 'loop' }));
  assert.deepEqual([last(state).status, last(state).text], ['streaming', '']);
  assert.equal(last([token('Three '), token('days [1].'), done({ fallback: 'loop' })].reduce(reduce, state)).text, 'Three days [1].');
});
