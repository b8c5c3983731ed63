// Tests the Model Context Protocol's own clients, 1.x and 2.x in both eras, with a running server: FOOTNOTE_URL=http://127.0.0.1:7700,
// and FOOTNOTE_CODE=the folder of a project that it may index.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Client as Newer, StreamableHTTPClientTransport as NewerHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewerStdio } from '@modelcontextprotocol/client/stdio';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const base = process.env.FOOTNOTE_URL;
const root = process.env.FOOTNOTE_CODE;
assert.ok(base && root, 'FOOTNOTE_URL and FOOTNOTE_CODE are not set');

const api = async (method, path, body) => {
  const answer = await fetch(base + path, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
};
const ended = async () => {
  for (let i = 0; i < 1200; ++i) {
    const { body } = await api('GET', '/api/projects/laravel');
    if (['done', 'failed'].includes(body.job.status)) return body.job.status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return 'never';
};

before(async () => {
  assert.equal((await api('POST', '/api/projects', { slug: 'laravel', root })).status, 201);
  assert.equal(await ended(), 'done');
});
after(async () => {
  await ended();
  await api('DELETE', '/api/projects/laravel');
});

// The server's own program on its data folder: `footnote mcp` goes through the server.
const line = readFileSync(`/proc/${process.env.FOOTNOTE_PID}/cmdline`, 'utf8').split('\0');
const stdio = { command: line[0], args: ['mcp', '--data', line[line.indexOf('--data') + 1]] };

const makers = {
  '1.x over HTTP': [Older, {}, () => new OlderHttp(new URL(base + '/mcp'))],
  '1.x over stdio': [Older, {}, () => new OlderStdio(stdio)],
  '2.x with a handshake over HTTP': [Newer, {}, () => new NewerHttp(new URL(base + '/mcp'))],
  '2.x stateless over HTTP': [Newer, { versionNegotiation: { mode: 'auto' } }, () => new NewerHttp(new URL(base + '/mcp'))],
  '2.x with a handshake over stdio': [Newer, {}, () => new NewerStdio(stdio)],
  '2.x stateless over stdio': [Newer, { versionNegotiation: { mode: 'auto' } }, () => new NewerStdio(stdio)],
};

for (const [name, [Client, options, transport]] of Object.entries(makers)) {
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1' }, options);
    await client.connect(transport());
    return client;
  };
  test(`${name}: every tool`, async () => {
    const client = await connect();
    const run = async (tool, args) => {
      const result = await client.callTool({ name: tool, arguments: args });
      assert.ok(!result.isError, `${tool}: ${result.content?.[0]?.text}`);
      assert.equal(result.content[0].type, 'text');
      return result.structuredContent;
    };
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), ['search_code', 'search_docs', 'get_symbol', 'find_references', 'related', 'file_outline',
      'index_status', 'reindex', 'memory_write', 'memory_search', 'memory_forget']);

    const found = await run('search_code', { query: 'What controller serves route invoices.store and which table does it touch?', project: 'laravel' });
    assert.equal(found.strategy, 'route_walk');
    assert.equal(found.chunks[0].symbol, 'invoices.store');
    const docs = await run('search_docs', { query: 'why are invoices never deleted', min_score: 0 });
    assert.ok(docs.chunks.every((chunk) => ['adr', 'doc', 'readme', 'known_bug', 'cursor_rule', 'claude_rule'].includes(chunk.source_type)));
    assert.ok(docs.chunks.length > 0);
    const symbol = await run('get_symbol', { name: 'InvoiceController::store' });
    assert.equal(symbol.symbols[0].path, 'app/Http/Controllers/InvoiceController.php');
    const references = await run('find_references', { symbol: 'App\\Events\\InvoiceCreated' });
    assert.ok(references.references.some((node) => node.symbol === 'App\\Listeners\\NotifyCustomer' && node.type === 'handles'));
    const around = await run('related', { symbol: 'clients', hops: 1 });
    assert.ok(around.edges.some((edge) => edge.type === 'stored_in' && edge.from.symbol === 'App\\Models\\Customer'));
    const outline = await run('file_outline', { path: 'routes/api.php' });
    assert.deepEqual(outline.units.map((unit) => unit.symbol), ['group /api/v1', 'api.invoices.index', 'api.invoices.show']);
    assert.equal((await run('index_status', {})).slug, 'laravel');
    assert.ok((await run('reindex', {})).id.startsWith('job_'));
    const note = await run('memory_write', { agent_id: name, text: 'The gate opens at dawn' });
    assert.equal((await run('memory_search', { agent_id: name, query: 'when does the gate open' })).memories[0].id, note.id);
    assert.equal((await run('memory_forget', { agent_id: name, id: note.id })).id, note.id);

    const lost = await client.callTool({ name: 'get_symbol', arguments: { name: 'InvoiceServise' } });
    assert.ok(lost.isError);
    assert.match(lost.content[0].text, /InvoiceService/);
    await client.close();
  });

  test(`${name}: resources`, async () => {
    const client = await connect();
    assert.equal((await client.listResources()).resources[0].uri, 'repo://laravel/README.md');
    assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
    const lines = await client.readResource({ uri: 'repo://laravel/README.md#L1-L1' });
    assert.equal(lines.contents[0].text, '# Billing\n');
    await assert.rejects(client.readResource({ uri: 'repo://laravel/../../etc/passwd' }));
    await client.close();
  });
}

test('bad messages are refused as the specification says', async () => {
  const post = async (body, headers = {}) => {
    const answer = await fetch(base + '/mcp', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
    return { status: answer.status, code: (await answer.json()).error?.code };
  };
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'nothing' };
  assert.deepEqual(await post([]), { status: 400, code: -32600 });
  assert.deepEqual(await post({ jsonrpc: '2.0', id: 1, method: 'nothing' }), { status: 200, code: -32601 });
  assert.deepEqual(await post({ jsonrpc: '2.0', id: 1, method: 'nothing', params: { _meta: meta } }, modern), { status: 404, code: -32601 });
  assert.deepEqual(await post({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } }, modern), { status: 400, code: -32020 });
  const old = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2030-01-01' };
  assert.deepEqual(await post({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: old } }), { status: 400, code: -32022 });
  assert.equal((await fetch(base + '/mcp')).status, 405);
});
