// A small OpenAI-compatible server for one GGUF model, run on the processor: POST /v1/chat/completions, streamed or whole. Loopback only.
// node model_server.mjs MODEL.gguf [PORT]

import http from 'node:http';
import { getLlama, LlamaChatSession, LlamaLogLevel } from 'node-llama-cpp';

const [modelPath, port = '0'] = process.argv.slice(2);
const CONTEXT_TOKENS = 4096;
// One thread: more of them wait for each other actively, which is slow where other programs run.
const THREADS = Number(process.env.LLM_THREADS ?? 1);
const BODY_BYTES_MAX = 1 << 20;

// No download and no compilation: only the binaries of the installed package.
const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: CONTEXT_TOKENS, sequences: 1, threads: THREADS });
const sequence = context.getSequence();
const name = modelPath.split('/').at(-1).replace(/\.gguf$/, '');

function historyOf(messages) {
  const history = [];
  for (const { role, content } of messages.slice(0, -1)) {
    if (role === 'assistant') history.push({ type: 'model', response: [content] });
    else history.push({ type: role === 'system' ? 'system' : 'user', text: content });
  }
  return history;
}

/** One answer at a time: the model has one sequence. */
let last = Promise.resolve();
function answer(ask, onText, signal) {
  const run = last.then(async () => {
    await sequence.clearHistory();
    const session = new LlamaChatSession({ contextSequence: sequence });
    session.setChatHistory(historyOf(ask.messages));
    const text = await session.prompt(ask.messages.at(-1).content, {
      maxTokens: ask.max_tokens ?? 400, temperature: ask.temperature ?? 0, signal, stopOnAbortSignal: true, onTextChunk: onText,
    });
    session.dispose({ disposeSequence: false });
    return text;
  });
  last = run.catch(() => {});
  return run;
}

async function bodyOf(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the request is too large');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

async function complete(ask, response) {
  const ended = new AbortController();
  response.on('close', () => ended.abort());
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: Math.floor(Date.now() / 1000), model: name };
  const send = (delta, finish = null) =>
    response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  if (ask.stream) response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = await answer(ask, (piece) => ask.stream && send({ content: piece }), ended.signal);
  if (ended.signal.aborted) return;
  if (ask.stream) {
    send({}, 'stop');
    response.end('data: [DONE]\n\n');
  } else {
    response.writeHead(200, { 'content-type': 'application/json' });
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices }));
  }
}

const server = http.createServer(async (request, response) => {
  try {
    if (request.url.endsWith('/models')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ object: 'list', data: [{ id: name, object: 'model', created: 0, owned_by: 'local' }] }));
    }
    await complete(await bodyOf(request), response);
  } catch (error) {
    if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: String(error.message), type: 'server_error', param: null, code: null } }));
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`model ${name} on http://127.0.0.1:${server.address().port}/v1`));
