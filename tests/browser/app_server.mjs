// Serves the chat app with a scripted knowledge base: conversations, streams that can be resumed and stopped, uploads, sessions.
// `node tests/browser/app_server.mjs [port]` serves it for manual tests; tests call startApp(). The answer depends on the question: see
// `scenarios`. All other questions get the parental leave answer.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildApp } from '../../web/app/build.mjs';
import { documentById, documents } from './fixture_documents.mjs';

/** The headers that the C++ server sends with the page (src/api/app_routes.cpp). */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const types = { html: 'text/html; charset=utf-8', css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml', txt: 'text/plain; charset=utf-8' };
const points = (text) => [...text].length;

const preview = (id) => `/api/kb/documents/${id}/preview?version=1`;

function sourceChunk(id, number) {
  const { title, path, headings, text, url } = documentById(id);
  return { type: 'source-url', sourceId: String(number), url: url ?? preview(id), title,
    providerMetadata: { footnote: { number, documentId: id, version: 1, sourcePath: path, headings, snippet: text.slice(0, 240) } } };
}

/** The chunks of an answer made of [text, document id, quote, support] pieces; a piece without a document has no mark. */
export function answerChunks(pieces, { model = 'scripted-1', confidence = 91, tier = 'high', followups = [], read = [], usage } = {}) {
  const ids = [...new Set([...pieces.map(([, id]) => id).filter(Boolean), ...read])];
  let text = '';
  const body = [];
  const citations = [];
  const checks = [];
  for (const [words, id, quote, support = 'supported'] of pieces) {
    const number = ids.indexOf(id) + 1;
    const answerStart = points(text);
    const piece = number > 0 ? `${words} [${number}]` : words;
    if (number > 0) {
      const at = documentById(id).text.indexOf(quote);
      if (at < 0) throw new Error(`no such quote in document ${id}: ${quote}`);
      const sourceStart = points(documentById(id).text.slice(0, at));
      citations.push({ number, documentId: id, version: 1, answerStart, answerEnd: answerStart + points(piece), sourceStart, sourceEnd: sourceStart + points(quote),
        quote, support, place: 'line 9', line: 9, page: null });
    }
    const checked = number > 0 ? support : support === 'uncited' && 'uncited';
    if (checked) checks.push({ type: 'data-check', data: { answerStart, answerEnd: answerStart + points(piece), numbers: number > 0 ? [number] : [], support: checked } });
    text += `${piece} `;
    body.push(...`${piece} `.match(/[^]{1,14}/gu));
  }
  return [
    ...ids.map((id, i) => sourceChunk(id, i + 1)),
    { type: 'text-start', id: 't1' },
    ...body.map((delta) => ({ type: 'text-delta', id: 't1', delta })),
    { type: 'text-end', id: 't1' },
    ...(model ? checks : []),
    { type: 'data-citations', data: citations },
    { type: 'data-confidence', data: { confidence, tier } },
    ...(followups.length ? [{ type: 'data-followups', data: followups }] : []),
    { type: 'finish', finishReason: 'stop', messageMetadata: { refusalReason: null, latencyMs: 184, model,
      ...(model && { usage: usage ?? { promptTokens: 1180, completionTokens: 94, cost: 0.00213 } }) } },
  ];
}

export const longLeave = 'Every parent may take 26 weeks of parental leave for each child, until the child turns\neight.';
const paidWeeks = "The first nine weeks are paid at 100 % of salary if they are taken in the child's first\nyear; the other seventeen weeks are unpaid.";
const allowance = 'Holiday allowance is built up during paid weeks of parental leave only.';
const daysOff = 'Full-time colleagues have 27 days of annual leave a year.';

const leaveAnswer = () => answerChunks([
  [longLeave.replace('\n', ' '), 1, longLeave],
  [paidWeeks.replace('\n', ' '), 1, paidWeeks],
  [allowance, 2, allowance],
], { read: [3], followups: ['How do I ask for parental leave?', 'Does my pension go on?', 'Can a request be refused?'] });

const markdownAnswer = () => answerChunks([
  [`## Parental leave in short

Every parent has **26 weeks**, of which *nine* are paid. See \`tally request\` below.

| Weeks | Paid | When |
|:------|-----:|:----:|
| 1 to 9 | 100 % | first year |
| 10 to 26 | unpaid | until eight |

1. Tell your manager.
   - at least two months before
   - in writing
2. Fill in the form.

> A request can be moved, not refused.

\`\`\`sh
tally request --kind parental --weeks 9
\`\`\`

More at [the handbook](https://handbook.example/leave), at [another place](https://evil.example/x) and at ![a picture](https://evil.example/p.png).`, 1, longLeave],
]);

const quotedAnswer = () => answerChunks([
  ['26 weeks', 1, '26 weeks'],
  [`\n\n**How long it is**\n\n${longLeave.replace('\n', ' ')} ${paidWeeks.replace('\n', ' ')}`, 1, `${longLeave} ${paidWeeks}`],
], { model: null });

const refusal = () => {
  const body = 'I could not find an answer to this in the documents.';
  const near = (id) => {
    const { title, path, text } = documentById(id);
    return { title, sourcePath: path, documentId: id, version: 1, snippet: text.slice(0, 160).replace(/\s+/g, ' ') };
  };
  return [
    { type: 'text-start', id: 't1' }, { type: 'text-delta', id: 't1', delta: body }, { type: 'text-end', id: 't1' },
    { type: 'data-refusal', data: { reason: 'no_relevant_context', body, hint: 'Try other words, or add a document that covers it.', nearest: [near(4), near(3)] } },
    { type: 'data-confidence', data: { confidence: null, tier: 'refused' } },
    { type: 'data-followups', data: ['When is the office open?'] },
    { type: 'finish', finishReason: 'stop', messageMetadata: { refusalReason: 'no_relevant_context', latencyMs: 21, model: null } },
  ];
};

const withdrawn = () => [
  sourceChunk(3, 1),
  { type: 'text-start', id: 't1' }, { type: 'text-delta', id: 't1', delta: 'Everybody has 40 days. [1]' }, { type: 'text-end', id: 't1' },
  { type: 'data-check', data: { answerStart: 0, answerEnd: 22, numbers: [1], support: 'unsupported' } },
  { type: 'data-replace', data: { withdrawn: 't1', by: 't2', reason: 'unsupported' } },
  sourceChunk(3, 1),
  { type: 'text-start', id: 't2' }, { type: 'text-delta', id: 't2', delta: `${daysOff} [1]` }, { type: 'text-end', id: 't2' },
  { type: 'data-citations', data: [] },
  { type: 'data-confidence', data: { confidence: 60, tier: 'moderate' } },
  { type: 'finish', finishReason: 'stop', messageMetadata: { refusalReason: null, latencyMs: 50, model: 'scripted-1' } },
];

async function* endless() {
  yield sourceChunk(1, 1);
  yield { type: 'text-start', id: 't1' };
  for (let i = 1; ; i++) {
    yield { type: 'text-delta', id: 't1', delta: `word${i} ` };
    await sleep(30);
  }
}

/** `seconds` of an answer at 200 tokens a second, with citations, lists and tables as a model writes them. */
async function* fast(seconds) {
  yield sourceChunk(1, 1);
  yield sourceChunk(2, 2);
  yield { type: 'text-start', id: 't1' };
  const paragraph = 'Every **parent** may take 26 weeks of leave for each child [1], and `Tally` keeps the count. Holiday allowance is built up in paid weeks only [2].\n\n- one point [1]\n- another\n\n| Weeks | Paid |\n|---|---|\n| 1 to 9 | yes |\n\n';
  const tokens = paragraph.match(/\s*\S{1,6}|\s+$/g);
  const started = Date.now();
  for (let sent = 0; sent < seconds * 200; ) {
    const due = Math.min(seconds * 200, Math.floor((Date.now() - started) / 5));
    for (; sent < due; sent++) yield { type: 'text-delta', id: 't1', delta: tokens[sent % tokens.length] };
    await sleep(5);
  }
  yield { type: 'text-end', id: 't1' };
  yield { type: 'finish', finishReason: 'stop', messageMetadata: { latencyMs: seconds * 1000, model: 'scripted-1' } };
}

const answered = (text) => [
  sourceChunk(1, 1), { type: 'text-start', id: 't1' }, { type: 'text-delta', id: 't1', delta: text }, { type: 'text-end', id: 't1' },
  { type: 'data-citations', data: [] }, { type: 'data-confidence', data: { confidence: 70, tier: 'moderate' } },
  { type: 'finish', finishReason: 'stop', messageMetadata: { latencyMs: 5, model: 'scripted-1' } },
];

const scenarios = {
  refuse: refusal,
  slow: endless,
  markdown: markdownAnswer,
  quoted: quotedAnswer,
  withdrawn,
  'fast 3': () => fast(3),
  'fast 20': () => fast(20),
  doubts: () => answerChunks([
    [daysOff, 3, daysOff],
    ['Everybody has 40 days of leave 👶 from the first day on.', 3, daysOff, 'unsupported'],
    ['Managers may grant more of it whenever they like.', 0, '', 'uncited'],
  ], { confidence: 45, tier: 'low', usage: { promptTokens: 10, completionTokens: 5, estimated: true } }),
  broken: (state) => (state.repaired ? leaveAnswer() : [...leaveAnswer().slice(0, 9), { type: 'error', errorText: 'The model went away.' }]),
};

const json = (response, status, value, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
};
const fail = (response, status, code, message, headers) => json(response, status, { error: { code, message } }, headers);

async function readJson(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString('utf8');
  return text ? JSON.parse(text) : {};
}

/** A turn that runs on the server: its chunks are kept, so that any number of connections can follow it from the start. */
class Turn {
  chunks = [];
  done = false;
  #waiting = new Set();

  push(chunk) {
    this.chunks.push(chunk);
    for (const wake of this.#waiting) wake();
  }

  end() {
    this.done = true;
    for (const wake of this.#waiting) wake();
  }

  async follow(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-vercel-ai-ui-message-stream': 'v1' });
    let open = true;
    let wake = () => {};
    const wakeUp = () => wake();
    this.#waiting.add(wakeUp);
    response.on('close', () => {
      open = false;
      wake();
    });
    for (let at = 0; open; ) {
      while (at < this.chunks.length) response.write(`data: ${JSON.stringify(this.chunks[at++])}\n\n`);
      if (this.done) break;
      await new Promise((resolve) => (wake = resolve));
    }
    this.#waiting.delete(wakeUp);
    if (open) response.end('data: [DONE]\n\n');
  }
}

class Conversations {
  byId = new Map();
  #count = 0;

  next = (prefix) => `${prefix}_${++this.#count}`;

  of(id) {
    let found = this.byId.get(id);
    if (!found) {
      found = { id, title: '', updated: Date.now(), active_leaf: null, messages: [], turn: null };
      this.byId.set(id, found);
    }
    return found;
  }
}

/** What a finished turn leaves in the store, in the form of GET /api/kb/conversations/{id}. */
function storedAnswer(id, parent, chunks) {
  const all = (type) => chunks.filter((chunk) => chunk.type === type);
  const last = (type) => all(type).at(-1)?.data;
  const text = chunks.slice(chunks.findLastIndex(({ type }) => type === 'data-replace') + 1).filter(({ type }) => type === 'text-delta').map(({ delta }) => delta).join('');
  const marks = last('data-citations') ?? [];
  const meta = all('finish').at(-1)?.messageMetadata ?? {};
  const snake = (mark) => ({ answer_start: mark.answerStart, answer_end: mark.answerEnd, source_start: mark.sourceStart, source_end: mark.sourceEnd, quote: mark.quote, support: mark.support, place: mark.place });
  return {
    id, parent_id: parent, role: 'assistant', text, created_at: new Date().toISOString(), turn_id: id,
    citations: all('source-url').map(({ title, url, providerMetadata: { footnote } }) => ({ number: footnote.number, document_id: footnote.documentId, version: 1, title,
      source_path: footnote.sourcePath, url, headings: footnote.headings, snippet: footnote.snippet, marks: marks.filter(({ number }) => number === footnote.number).map(snake) })),
    confidence: last('data-confidence')?.confidence ?? 0, refusal_reason: last('data-refusal')?.reason ?? null,
    meta: { model: meta.model ?? null, latency_ms: meta.latencyMs, usage: meta.usage, followups: last('data-followups'), checks: all('data-check').map(({ data }) => data),
      nearest: last('data-refusal')?.nearest, hint: last('data-refusal')?.hint },
    feedback: null,
  };
}

async function chat(request, response, state) {
  const body = await readJson(request);
  state.asked.push(body);
  const conversation = state.conversations.of(body.id);
  let question;
  if (body.trigger === 'regenerate-message') {
    const again = conversation.messages.find(({ id }) => id === body.messageId);
    question = again?.role === 'assistant' ? conversation.messages.find(({ id }) => id === again.parent_id) : again;
    if (!question) return fail(response, 422, 'invalid_argument', 'the conversation has no such message');
  } else {
    const message = body.messages.at(-1);
    const text = message.parts.map((part) => part.text ?? '').join('');
    if (state.outage) return fail(response, 503, 'unavailable', 'The model is still loading.', { 'retry-after': '7' });
    const replaced = conversation.messages.find(({ id }) => id === body.messageId);
    const parent = replaced ? replaced.parent_id : body.parentId || null;
    if (parent && !conversation.messages.some(({ id }) => id === parent)) return fail(response, 422, 'invalid_argument', `the conversation has no such message '${parent}'`);
    question = { id: message.id, parent_id: parent, role: 'user', text, created_at: new Date().toISOString() };
    conversation.messages.push(question);
    conversation.title ||= text.slice(0, 80);
  }
  conversation.updated = Date.now();
  const turnId = state.conversations.next('turn');
  const turn = (conversation.turn = new Turn());
  turn.push({ type: 'start', messageId: turnId, messageMetadata: { conversationId: body.id, userMessageId: question.id, turnId } });
  void (async () => {
    const made = state.answers.get(question.text);
    const chunks = made ? answered(made) : (scenarios[question.text] ?? leaveAnswer)(state);
    for await (const chunk of chunks) {
      if (turn.stopped) break;
      turn.push(chunk);
      if (Array.isArray(chunks) && state.pace > 0) await sleep(state.pace);
    }
    if (turn.stopped) turn.push({ type: 'abort', reason: 'stopped' });
    if (!turn.chunks.some(({ type }) => type === 'error')) {
      conversation.messages.push(storedAnswer(turnId, question.id, turn.chunks));
      conversation.active_leaf = turnId;
    }
    conversation.turn = null;
    turn.end();
  })();
  await turn.follow(response);
}

const listed = ({ id, title, updated, messages }) => ({ id, title, updated_at: new Date(updated).toISOString(), messages: messages.length });

function listConversations(url, response, state) {
  const search = (url.searchParams.get('search') ?? '').toLowerCase();
  const all = [...state.conversations.byId.values()].filter(({ messages }) => messages.length > 0)
    .filter(({ title, messages }) => title.toLowerCase().includes(search) || messages.some(({ text }) => text.toLowerCase().includes(search)))
    .sort((a, b) => b.updated - a.updated);
  const limit = Number(url.searchParams.get('limit') ?? 50);
  const from = Number(url.searchParams.get('after') ?? 0);
  json(response, 200, { conversations: all.slice(from, from + limit).map(listed), next: all.length > from + limit ? String(from + limit) : null });
}

async function oneConversation(id, rest, request, url, response, state) {
  const found = state.conversations.byId.get(id);
  if (!found) return fail(response, 404, 'not_found', `there is no conversation '${id}'`);
  if (rest === '/stop') {
    if (found.turn) found.turn.stopped = true;
    state.stops++;
    return json(response, 200, { stopped: true });
  }
  if (rest === '/export') {
    const format = url.searchParams.get('format');
    if (format === 'json') return json(response, 200, found.messages);
    response.writeHead(200, { 'content-type': 'text/markdown; charset=utf-8' });
    return response.end(`# ${found.title}\n\n${found.messages.map(({ role, text }) => (role === 'user' ? `## ${text}` : text)).join('\n\n')}\n`);
  }
  if (request.method === 'DELETE') {
    state.conversations.byId.delete(id);
    response.writeHead(204);
    return response.end();
  }
  if (request.method === 'PATCH') Object.assign(found, await readJson(request));
  json(response, 200, { id, title: found.title, project_keys: [], active_leaf: found.active_leaf, messages: found.messages });
}

async function ingest(request, response, state) {
  const { documents: sent } = await readJson(request);
  state.ingested.push(...sent);
  await state.beforeIngest;
  const results = sent.map(({ source_path: path }) => (path.endsWith('.doc')
    ? { source_path: path, status: 'failed', error: { code: 'unsupported', message: 'Word 97: save it as .docx' } }
    : { source_path: path, status: 'indexed', chunks: 3, version: 1 }));
  json(response, results.some(({ status }) => status === 'failed') ? 207 : 200, { documents: results });
}

function search(body, response) {
  const words = body.query.toLowerCase().split(/\s+/);
  const hits = documents.filter(({ text }) => words.some((word) => text.toLowerCase().includes(word))).map(({ id, title, path, headings, text }) => ({
    chunk_id: id, document_id: id, version: 1, title, source_path: path, headings, text, first_line: 1, last_line: 4, place: 'line 1', score: 1, probability: 0.9 }));
  json(response, 200, { hits, gate: {}, generation: 1 });
}

const PUBLIC = ['/api/session'];

async function handle(request, response, state) {
  const url = new URL(request.url, 'http://fixture');
  const { pathname } = url;
  state.requests.push(`${request.method} ${pathname}`);
  if (/^\/app\/(chat(\/[^/]+)?|search)$/.test(pathname)) {
    response.writeHead(200, { 'content-type': types.html, 'content-security-policy': pagePolicy, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    return response.end(state.files['index.html']);
  }
  const file = pathname.startsWith('/app/assets/') && state.files[pathname.slice('/app/assets/'.length)];
  if (file) {
    response.writeHead(200, { 'content-type': types[pathname.split('.').at(-1)], 'cache-control': 'public, max-age=31536000, immutable' });
    return response.end(file);
  }
  if (state.needsKey && !PUBLIC.includes(pathname) && !(request.headers.cookie ?? '').includes('footnote_session=good')) {
    return fail(response, 401, 'unauthenticated', 'this needs an API key');
  }
  const conversation = /^\/api\/kb\/conversations\/([^/]+)(\/stop|\/export)?$/.exec(pathname);
  const document = /^\/api\/kb\/documents\/(\d+)\/preview$/.exec(pathname);
  const resume = /^\/api\/kb\/chat\/stream\/([^/]+)\/stream$/.exec(pathname);
  const feedback = /^\/api\/kb\/turns\/([^/]+)\/feedback$/.exec(pathname);
  if (pathname === '/api/session') return session(request, response, state);
  if (pathname === '/api/corpora') return json(response, 200, { corpora: state.corpora });
  if (pathname === '/api/examples') return json(response, 200, { questions: state.examples, ingest_command: 'footnote ingest ./docs --data /srv/answers' });
  if (pathname === '/api/kb/chat/stream') return chat(request, response, state);
  if (resume) {
    const { turn } = state.conversations.of(decodeURIComponent(resume[1]));
    if (turn) return turn.follow(response);
    response.writeHead(204);
    return response.end();
  }
  if (pathname === '/api/kb/conversations') return listConversations(url, response, state);
  if (conversation) return oneConversation(decodeURIComponent(conversation[1]), conversation[2], request, url, response, state);
  if (feedback) {
    const given = await readJson(request);
    state.feedback.push({ turn: feedback[1], ...given });
    for (const { messages } of state.conversations.byId.values()) for (const message of messages) if (message.id === feedback[1]) message.feedback = given.rating ? given : null;
    return json(response, 200, {});
  }
  if (pathname === '/api/kb/gaps') {
    state.gaps.push(await readJson(request));
    return json(response, 200, { id: 1 });
  }
  if (pathname === '/api/kb/ingest') return ingest(request, response, state);
  if (pathname === '/api/search') return search(await readJson(request), response);
  if (document) {
    const found = documentById(Number(document[1])) ?? state.documents.get(Number(document[1]));
    if (!found) return fail(response, 404, 'not_found', 'there is no such document');
    const { id, title, path, mediaType, text, url: address = null } = found;
    return json(response, 200, { document_id: id, version: 1, title, source_path: path, url: address, media_type: mediaType, text });
  }
  fail(response, 404, 'not_found', 'There is nothing here.');
}

async function session(request, response, state) {
  const signedIn = !state.needsKey || (request.headers.cookie ?? '').includes('footnote_session=good');
  if (request.method === 'GET') return json(response, 200, { signed_in: signedIn, needs_key: state.needsKey, scopes: signedIn ? state.scopes : [] });
  if (request.method === 'DELETE') {
    response.writeHead(204, { 'set-cookie': 'footnote_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict' });
    return response.end();
  }
  const { key } = await readJson(request);
  if (key !== 'fn_live_good') return fail(response, 401, 'unauthenticated', 'this API key is not valid');
  json(response, 200, { signed_in: true, needs_key: true, scopes: state.scopes }, { 'set-cookie': 'footnote_session=good; Path=/; HttpOnly; SameSite=Strict' });
}

let built = null;

/** Starts the server. Tests may change `state` while it runs; it also records what was asked. */
export async function startApp({ port = 0, ...given } = {}) {
  built ??= buildApp();
  const state = {
    files: await built, pace: 2, needsKey: false, scopes: ['read', 'ingest'], conversations: new Conversations(), answers: new Map(), documents: new Map(), requests: [], asked: [],
    feedback: [], gaps: [], ingested: [], stops: 0, outage: false, repaired: false, beforeIngest: undefined,
    corpora: [{ name: 'memory', documents: documents.length }, { name: 'archive', documents: 2 }],
    examples: ['How long is parental leave, and is it paid?', 'What happens to my pension while I am away?', 'Does the canteen serve breakfast?'],
    ...given,
  };
  const server = createServer((request, response) => handle(request, response, state).catch((error) => {
    console.error(error);
    response.destroy();
  }));
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => new Promise((resolve) => {
    for (const { turn } of state.conversations.byId.values()) if (turn) turn.stopped = true;
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, state, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startApp({ port: Number(process.argv[2] ?? 7798), pace: 30 });
  console.log(`${url}/app/chat`);
}
