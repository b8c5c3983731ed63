// Tests the parser of server-sent events with arbitrary slices.

import test from 'node:test';
import assert from 'node:assert/strict';
import { EVENT_CHARS_MAX, EventParser, readEvents } from '../../web/widget/sse.ts';

const all = (...parts) => {
  const parser = new EventParser();
  return parts.flatMap((part) => parser.push(part));
};

test('an event is its data, with the id that it came under', () => {
  assert.deepEqual(all('id: 1\ndata: a\n\nid: 2\ndata: b\n\n'), [{ id: '1', data: 'a' }, { id: '2', data: 'b' }]);
});

test('an event without an id keeps the last one; one with NUL is no id', () => {
  assert.deepEqual(all('id: 7\ndata: a\n\ndata: b\n\nid: 8\0\ndata: c\n\n').map(({ id }) => id), ['7', '7', '7']);
});

test('comments, unknown fields and empty events are passed over', () => {
  assert.deepEqual(all(': ok\n\n: \n\nretry: 5\nevent: x\n\ndata: a\n\n'), [{ id: '', data: 'a' }]);
});

test('several data lines are one text; one space after the colon is not part of it', () => {
  assert.deepEqual(all('data:  a\ndata:b\ndata\n\n'), [{ id: '', data: ' a\nb\n' }]);
});

test('every slicing and line end gives the same events', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = `\uFEFF: ok${end}${end}id: 1${end}data: {"a":"ä👶"}${end}${end}id: 2${end}data: b${end}${end}`;
    const whole = all(text);
    assert.deepEqual(whole, [{ id: '1', data: '{"a":"ä👶"}' }, { id: '2', data: 'b' }], JSON.stringify(end));
    for (let at = 0; at <= text.length; at++) assert.deepEqual(all(text.slice(0, at), text.slice(at)), whole, `${JSON.stringify(end)} at ${at}`);
    assert.deepEqual(all(...text.split('')), whole);
  }
});

test('a line end that is cut in two is one line end', () => {
  assert.deepEqual(all('data: a\r', '\ndata: b\r\n\r', '\n'), [{ id: '', data: 'a\nb' }]);
});

test('an event past the bound is refused, at the bound it is not; comments do not count', () => {
  const data = 'x'.repeat(EVENT_CHARS_MAX - 'data: '.length);
  assert.equal(all(`data: ${data}\n\n`)[0].data.length, data.length);
  assert.throws(() => all(`data: ${data}y\n\n`), /too long/);
  assert.throws(() => all(...Array(5).fill('y'.repeat(EVENT_CHARS_MAX / 4))), /too long/);
  assert.equal(all(...Array(5).fill(`: ${'y'.repeat(EVENT_CHARS_MAX / 4)}\n`), 'data: a\n\n').length, 1);
});

test('bytes are decoded across their cuts, and leaving cancels the stream', async () => {
  const bytes = new TextEncoder().encode('id: 1\ndata: ä👶\n\nid: 2\ndata: never read\n\n');
  let cancelled = false;
  const body = new ReadableStream({
    start(controller) { for (const byte of bytes) controller.enqueue(new Uint8Array([byte])); },
    cancel() { cancelled = true; },
  });
  for await (const event of readEvents(body)) {
    assert.deepEqual(event, { id: '1', data: 'ä👶' });
    break;
  }
  assert.ok(cancelled);
});
