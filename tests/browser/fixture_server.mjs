// Serves the start page with scripted answers and failures, to test its logic without the C++ server.
// `node tests/browser/fixture_server.mjs [port]` serves it for manual tests; tests call startFixture().
//
// The response depends on the question: see `scenarios` below. All other questions get the parental leave answer.

import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { documents, documentById } from './fixture_documents.mjs';
import { pageFiles } from './page_files.mjs';

/** The headers that the C++ server sends with the page. */
const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const codePoints = (text) => [...text].length;

/** The chunks of an answer made of [sentence, document id, quote, support] pieces. */
function answerChunks(pieces, { confidence = 91, tier = 'high', uncited = [] } = {}) {
  const ids = [...new Set([...pieces.map(([, id]) => id).filter(Boolean), ...uncited])];
  const sources = ids.map((id, i) => {
    const { title, path, headings, text } = documentById(id);
    return {
      type: 'source-url', sourceId: String(i + 1), url: `/api/kb/documents/${id}/preview?version=1`, title,
      providerMetadata: { footnote: { number: i + 1, documentId: id, version: 1, sourcePath: path, headings, snippet: text.slice(0, 240) } },
    };
  });
  let text = '';
  const deltas = [];
  const citations = [];
  const checks = [];
  for (const [sentence, id, quote, support = 'supported'] of pieces) {
    const number = ids.indexOf(id) + 1;
    const answerStart = codePoints(text);
    const piece = number > 0 ? `${sentence} [${number}] ` : `${sentence} `;
    if (number > 0) {
      const at = documentById(id).text.indexOf(quote);
      if (at < 0) throw new Error(`fixture: no such quote in document ${id}: ${quote}`);
      const sourceStart = codePoints(documentById(id).text.slice(0, at));
      citations.push({
        number, documentId: id, version: 1, answerStart, answerEnd: answerStart + codePoints(sentence),
        sourceStart, sourceEnd: sourceStart + codePoints(quote), quote, support,
      });
    }
    const checked = number > 0 ? support : support === 'uncited' && 'uncited';
    if (checked) {
      const data = { answerStart, answerEnd: answerStart + codePoints(piece.trimEnd()), numbers: number > 0 ? [number] : [], support: checked };
      checks.push({ type: 'data-check', data });
    }
    text += piece;
    deltas.push(...piece.match(/[^]{1,14}/gu));
  }
  return [
    { type: 'start', messageId: 'turn_1' },
    ...sources,
    { type: 'text-start', id: 't1' },
    ...deltas.map((delta) => ({ type: 'text-delta', id: 't1', delta })),
    ...checks,
    { type: 'text-end', id: 't1' },
    { type: 'data-citations', data: citations },
    { type: 'data-confidence', data: { confidence, tier } },
    { type: 'finish', finishReason: 'stop', messageMetadata: { turnId: 'turn_1', refusalReason: null, latencyMs: 184 } },
  ];
}

export const longLeave =
  'Every parent may take 26 weeks of parental leave for each child, until the child turns\neight.';
const paidWeeks =
  "The first nine weeks are paid at 100 % of salary if they are taken in the child's first\nyear; the other seventeen weeks are unpaid.";
const allowance = 'Holiday allowance is built up during paid weeks of parental leave only.';

const leaveAnswer = () => answerChunks([
  [longLeave.replace('\n', ' '), 1, longLeave],
  [paidWeeks.replace('\n', ' '), 1, paidWeeks],
  [allowance, 2, allowance],
], { uncited: [3] });

const refusal = () => {
  const body = 'The documents that were read do not answer this question.';
  const near = (id) => {
    const { title, path, text } = documentById(id);
    return { title, sourcePath: path, documentId: id, version: 1, snippet: text.slice(0, 120) };
  };
  return [
    { type: 'start', messageId: 'turn_2' },
    { type: 'data-refusal', data: {
      reason: 'no_relevant_context', body, hint: 'Other words may help, or a document that is not here yet.',
      nearest: [near(4), near(3)],
    } },
    { type: 'text-start', id: 't1' }, { type: 'text-delta', id: 't1', delta: body }, { type: 'text-end', id: 't1' },
    { type: 'data-confidence', data: { confidence: null, tier: 'refused' } },
    { type: 'finish', finishReason: 'stop', messageMetadata: { turnId: 'turn_2', refusalReason: 'no_relevant_context', latencyMs: 21 } },
  ];
};

const markup = () => answerChunks([
  ['<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> stays text.', 1, longLeave],
  ['So does [a link](javascript:window.pwned=1) and [a page](https://evil.example/x), **bold** and `code [1]`.\n\n- one\n- two [9]', 0],
]);

const wire = (chunks, end = '\n\n') => [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}${end}`), `data: [DONE]${end}`].join('');

async function* paced(chunks, ms, beforeFinish) {
  for (const chunk of chunks) {
    if (chunk.type === 'finish') await beforeFinish;
    yield `data: ${JSON.stringify(chunk)}\n\n`;
    await sleep(ms);
  }
  yield 'data: [DONE]\n\n';
}

async function* endless() {
  const [start, ...rest] = leaveAnswer();
  yield `data: ${JSON.stringify(start)}\n\n`;
  for (const chunk of rest.filter(({ type }) => type === 'source-url' || type === 'text-start')) yield `data: ${JSON.stringify(chunk)}\n\n`;
  for (let i = 1; ; i++) {
    yield `data: ${JSON.stringify({ type: 'text-delta', id: 't1', delta: `word${i} ` })}\n\n`;
    await sleep(40);
  }
}

/** Sends byte by byte, so that every character, line end and field is split somewhere; with CRLF, comments and a BOM. */
async function* sliced() {
  const chunks = answerChunks([['Olá 👶🏽, “nine weeks” — 26 × ✓ 日本語.', 1, longLeave]]);
  const text = `\uFEFF: stream-open\r\n\r\n${wire(chunks, '\r\n\r\n').replaceAll('data: {"type":"text-', ': keep-alive\r\ndata: {"type":"text-')}`;
  for (const byte of Buffer.from(text)) {
    yield Buffer.from([byte]);
    await new Promise(setImmediate);
  }
}

const envelope = (status, code, message, headers = {}) => ({ status, headers, body: JSON.stringify({ error: { code, message } }) });

/** Question -> a stream (async iterable), {status, body, headers}, or an action on the socket. */
const scenarios = {
  'fixture: refusal': () => paced(refusal(), 5),
  'fixture: slow': endless,
  'fixture: sliced': sliced,
  'fixture: markup': () => paced(markup(), 1),
  'fixture: status 503': () => envelope(503, 'unavailable', 'The model is still loading.', { 'retry-after': '7' }),
  'fixture: status 422': () => envelope(422, 'invalid_argument', 'question: is <b>too</b> odd'),
  'fixture: status 500 bare': () => ({ status: 500, headers: {}, body: 'oops' }),
  'fixture: error chunk': () => paced([...leaveAnswer().slice(0, 9), { type: 'error', errorText: 'The model went away.' }], 5),
  'fixture: not json': async function* notJson() { yield 'data: {"type":\n\n'; },
  'fixture: ended early': async function* endedEarly() { for (const chunk of leaveAnswer().slice(0, 9)) yield `data: ${JSON.stringify(chunk)}\n\n`; },
  'fixture: nothing said': () => paced([{ type: 'start' }, { type: 'finish', finishReason: 'stop' }], 1),
  'fixture: cut': async function* cut() {
    for (const chunk of leaveAnswer().slice(0, 9)) yield `data: ${JSON.stringify(chunk)}\n\n`;
    await sleep(30);
    throw new Error('cut');
  },
  'fixture: unsupported': () => paced(answerChunks([
    ['Everybody has 40 days of leave.', 3, 'Full-time colleagues have 27 days of annual leave a year.', 'unsupported'],
  ], { confidence: 22, tier: 'low' }), 5),
  'fixture: replaced': () => {
    const [start, ...rest] = leaveAnswer();
    const check = { answerStart: 0, answerEnd: 14, numbers: [], support: 'uncited' };
    return paced([start, ...rest.filter(({ type }) => type === 'source-url'),
      { type: 'text-start', id: 't1' }, { type: 'text-delta', id: 't1', delta: 'The answer is: The answer is: ' },
      { type: 'data-check', data: check }, { type: 'text-delta', id: 't1', delta: '\n\n(Withdrawn: ...)' }, { type: 'text-end', id: 't1' },
      { type: 'data-replace', data: { withdrawn: 't1', by: 't2', reason: 'loop' } },
      ...rest.map((chunk) => (chunk.id === 't1' ? { ...chunk, id: 't2' } : chunk))], 5);
  },
  'fixture: bound': () => {
    const chunks = answerChunks([['Every parent may take 26 weeks of leave.', 1, longLeave, 'supported'], ['They need not be taken at once.', 0]]);
    const said = 'Every parent may take 26 weeks of leave. ';
    const bound = { number: 1, documentId: 1, version: 1, answerStart: said.length + 4, answerEnd: said.length + 35, quote: null, support: 'supported', bound: true };
    return paced(chunks.map((chunk) => (chunk.type === 'data-citations' ? { ...chunk, data: [...chunk.data, bound] } : chunk)), 5);
  },
  'fixture: doubts': () => paced(answerChunks([
    ['Full-time colleagues have 27 days of annual leave.', 3, 'Full-time colleagues have 27 days of annual leave a year.'],
    ['Everybody has 40 days of leave 👶 from the first day on.', 3, 'Full-time colleagues have 27 days of annual leave a year.', 'unsupported'],
    ['Managers may grant more of it whenever they like.', 0, '', 'uncited'],
  ], { confidence: 55, tier: 'moderate' }), 5),
  'fixture: uncited': () => paced(answerChunks([['Somewhere it was said.', 0]], { confidence: 48, tier: 'moderate', uncited: [3] }), 5),
  'fixture: moved': () => {
    const chunks = leaveAnswer();
    chunks.find(({ type }) => type === 'data-citations').data.forEach((citation) => {
      citation.sourceStart = 1;
      citation.sourceEnd = 5;
    });
    return paced(chunks, 1);
  },
  'fixture: broken source': () => {
    const chunks = leaveAnswer();
    for (const chunk of chunks) if (chunk.type === 'source-url') chunk.providerMetadata.footnote.documentId = 404;
    return paced(chunks, 1);
  },
};

const json = (response, status, value) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

async function readBody(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

async function chat(request, response, state) {
  const body = await readBody(request);
  state.asked.push(body);
  const scenario = scenarios[body.question] ?? (() => paced(leaveAnswer(), state.pace, state.beforeFinish));
  const outcome = scenario();
  if (outcome.status) {
    response.writeHead(outcome.status, { 'content-type': 'application/json', ...outcome.headers });
    response.end(outcome.body);
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-vercel-ai-ui-message-stream': 'v1', 'x-accel-buffering': 'no',
  });
  let open = true;
  response.on('close', () => {
    if (!response.writableEnded) state.aborted++;
    open = false;
  });
  try {
    for await (const part of outcome) {
      if (!open) return;
      response.write(part);
    }
    response.end();
  } catch {
    response.socket.destroy();
  }
}

async function handle(request, response, state) {
  const url = new URL(request.url, 'http://fixture');
  const preview = /^\/api\/kb\/documents\/(\d+)\/preview$/.exec(url.pathname);
  const file = pageFiles.get(url.pathname);
  if (file) {
    response.writeHead(200, { 'content-type': file.type, ...pageHeaders });
    response.end(await file.read());
  } else if (url.pathname === '/api/examples') {
    json(response, 200, { questions: state.examples, ingest_command: 'footnote ingest ./docs --data /srv/answers' });
  } else if (url.pathname === '/api/corpora') {
    json(response, 200, { corpora: state.corpora });
  } else if (preview) {
    const document = documentById(Number(preview[1]));
    if (!document) return json(response, 404, { error: { code: 'not_found', message: 'There is no such document.' } });
    const { id, title, path, mediaType, text } = document;
    json(response, 200, { document_id: id, version: 1, title, source_path: path, url: null, media_type: mediaType, text, live: true });
  } else if (url.pathname === '/api/kb/chat/stream' && request.method === 'POST') {
    await chat(request, response, state);
  } else {
    json(response, 404, { error: { code: 'not_found', message: 'There is nothing here.' } });
  }
}

/**
 * Starts the server. Tests may change `state` while it runs (pace, corpora, examples; beforeFinish, a promise that the end of an
 * answer waits for); it also counts events.
 */
export async function startFixture({ port = 0, pace = 8 } = {}) {
  const state = {
    pace,
    beforeFinish: undefined,
    asked: [],
    aborted: 0,
    corpora: [{ name: 'memory', documents: documents.length, chunks: 12, generation: 1 }],
    examples: ['How long is parental leave, and is it paid?', 'What happens to my pension while I am away?', 'Does the canteen serve breakfast?'],
  };
  const server = createServer((request, response) => handle(request, response, state).catch((error) => {
    console.error(error);
    response.destroy();
  }));
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, state, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startFixture({ port: Number(process.argv[2] ?? 7799), pace: 40 });
  console.log(`${url}  (questions with a story of their own: ${Object.keys(scenarios).join(', ')})`);
}
