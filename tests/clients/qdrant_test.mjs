// Tests Qdrant's own clients, an older and a newer version, with a running server: FOOTNOTE_URL=http://127.0.0.1:7700.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QdrantClient as Newer } from '@qdrant/js-client-rest';
import { QdrantClient as Older } from 'qdrant-1-16';

const base = process.env.FOOTNOTE_URL;
assert.ok(base, 'FOOTNOTE_URL is not set');

const points = [
  { id: 1, vector: [1, 0, 0, 0], payload: { text: 'The harbour opens at dawn', city: 'Oslo', year: 1999, tags: ['sea', 'port'], at: '2024-05-01T00:00:00Z' } },
  { id: 2, vector: [0, 2, 0, 0], payload: { text: 'The orchard sells apples', city: 'Bergen', year: 2005, place: { lon: 5.32, lat: 60.39 } } },
  { id: 3, vector: [0.6, 0.8, 0, 0], payload: { text: 'A ledger of copper', city: 'Oslo', year: 2010, items: [{ n: 1, ok: true }, { n: 2, ok: false }] } },
  { id: '550e8400-e29b-41d4-a716-446655440000', vector: [0, 0, 1, 0], payload: { text: 'A mirror', year: 2020, none: null } },
];
const ids = (list) => list.map((point) => point.id);
const status = async (promise) => promise.then(() => 200, (error) => error.status ?? error);

for (const [version, Client] of [['1.16', Older], ['1.19', Newer]]) {
  const client = new Client({ url: base, checkCompatibility: true });
  const name = `places ${version}`;
  const raw = async (method, path, body) => {
    const answer = await fetch(`${base}/collections/${encodeURIComponent(name)}${path}`, {
      method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
    const { status: said, ...rest } = await answer.json();
    return { status: answer.status, error: said?.error, ...rest };
  };

  test(`${version}: collections`, async () => {
    assert.ok((await client.getCollections()).collections.some((entry) => entry.name === 'memory'));
    assert.equal((await client.collectionExists('memory')).exists, true);
    assert.equal((await client.collectionExists('nobody')).exists, false);
    assert.equal(await client.createCollection(name, { vectors: { size: 4, distance: 'Cosine' }, hnsw_config: { m: 8 } }), true);
    assert.equal(await status(client.createCollection(name, { vectors: { size: 4, distance: 'Cosine' } })), 409);
    assert.equal(await client.updateCollection(name, { optimizers_config: { indexing_threshold: 1 } }), true);
    const info = await client.getCollection(name);
    assert.equal(info.status, 'green');
    assert.equal(info.optimizer_status, 'ok');
    assert.deepEqual(info.config.params.vectors, { size: 4, distance: 'Cosine' });
    assert.equal(info.config.hnsw_config.m, 8);
    assert.equal(info.config.optimizer_config.indexing_threshold, 1);
    assert.equal(info.points_count, 0);
    assert.equal(await status(client.getCollection('nobody')), 404);
  });

  test(`${version}: points in and out`, async () => {
    assert.equal((await client.upsert(name, { wait: true, points })).status, 'completed');
    await client.upsert(name, { wait: false, batch: { ids: [9], vectors: [[0, 0, 0, 1]], payloads: [{ city: 'Rome' }] } });
    const found = await client.retrieve(name, { ids: [2, 77, 1], with_vector: true });
    assert.deepEqual(ids(found), [2, 1]);
    assert.deepEqual(found[0].vector, [0, 1, 0, 0]);  // normalised to length 1
    assert.equal(found[0].payload.city, 'Bergen');
    assert.equal((await raw('GET', '/points/3')).result.payload.year, 2010);
    assert.equal((await raw('GET', '/points/99')).status, 404);
    assert.equal((await client.count(name, { exact: true })).count, 5);
    await client.delete(name, { wait: true, points: [9, 1234] });
    assert.equal((await client.count(name)).count, 4);
  });

  test(`${version}: nearest points`, async () => {
    const { points: hits } = await client.query(name, { query: [1, 0.1, 0, 0], limit: 2, with_payload: ['city'] });
    assert.deepEqual(ids(hits), [1, 3]);
    assert.deepEqual(hits[0].payload, { city: 'Oslo' });
    assert.ok(Math.abs(hits[0].score - 0.99503719) < 1e-5);
    assert.deepEqual(ids((await client.query(name, { query: 1, limit: 1 })).points), [3]);  // by id, excluding the point itself
    assert.deepEqual(ids((await client.query(name, { query: [1, 0, 0, 0], score_threshold: 0.5 })).points), [1, 3]);
    assert.deepEqual(ids((await client.query(name, { query: [1, 0, 0, 0], offset: 1, limit: 1 })).points), [3]);
    assert.deepEqual(ids((await client.query(name, { limit: 2 })).points), [1, 2]);
    const old = (await raw('POST', '/points/search', { vector: [1, 0.1, 0, 0], limit: 2, with_vector: true })).result;
    assert.deepEqual(ids(old), [1, 3]);
    assert.deepEqual(old[0].vector, [1, 0, 0, 0]);
    if (client.search) assert.deepEqual(ids(await client.search(name, { vector: [1, 0.1, 0, 0], limit: 2 })), [1, 3]);
    const two = await client.queryBatch(name, { searches: [{ query: [1, 0, 0, 0], limit: 1 }, { query: [0, 1, 0, 0], limit: 1 }] });
    assert.deepEqual(two.map((entry) => ids(entry.points)), [[1], [2]]);
    const batch = (await raw('POST', '/points/search/batch', { searches: [{ vector: [0, 0, 1, 0], limit: 1 }] })).result;
    assert.deepEqual(batch.map(ids), [[points[3].id]]);
  });

  test(`${version}: searches of searches`, async () => {
    const prefetch = [{ query: [1, 0, 0, 0], limit: 3 }, { query: [0, 1, 0, 0], limit: 3 }];
    const fused = (await client.query(name, { prefetch, query: { fusion: 'rrf' }, limit: 3 })).points;
    assert.equal(fused.length, 3);
    assert.equal(fused[0].id, 1, JSON.stringify(fused));
    assert.ok(fused[0].score > 0.5);
    assert.equal((await client.query(name, { prefetch, query: { fusion: 'dbsf' }, limit: 2 })).points.length, 2);
    assert.equal((await client.query(name, { prefetch, query: { rrf: { k: 60 } }, limit: 2 })).points.length, 2);
    const again = (await client.query(name, { prefetch: { prefetch, query: { fusion: 'rrf' }, limit: 2 }, query: [0, 1, 0, 0], limit: 9 })).points;
    assert.equal(again.length, 2);
    const { groups } = await client.queryGroups(name, { query: [1, 0, 0, 0], group_by: 'city', limit: 2, group_size: 2 });
    assert.deepEqual(groups.map((group) => [group.id, ids(group.hits)]), [['Oslo', [1, 3]], ['Bergen', [2]]]);
    assert.equal(await status(client.query(name, { query: { fusion: 'rrf' } })), 400);
    assert.deepEqual(ids((await client.query(name, { query: { recommend: { positive: [1] } }, limit: 1 })).points), [3]);
    assert.equal(await status(client.query(name, { query: { recommend: { negative: [1] } } })), 400);
  });

  test(`${version}: filters`, async () => {
    const found = async (filter) => ids((await client.scroll(name, { filter, limit: 100 })).points);
    const last = points[3].id;
    for (const [filter, expected] of [
      [{ must: [{ key: 'city', match: { value: 'Oslo' } }] }, [1, 3]],
      [{ must: { key: 'city', match: { any: ['Oslo', 'Bergen'] } } }, [1, 2, 3]],
      [{ must: { key: 'city', match: { except: ['Oslo'] } } }, [2]],
      [{ must_not: [{ key: 'city', match: { value: 'Oslo' } }] }, [2, last]],
      [{ should: [{ key: 'year', range: { lt: 2000 } }, { key: 'year', range: { gte: 2020 } }] }, [1, last]],
      [{ min_should: { conditions: [{ key: 'city', match: { value: 'Oslo' } }, { key: 'year', range: { gt: 2000 } }], min_count: 2 } }, [3]],
      [{ must: [{ key: 'at', range: { gte: '2024-01-01T00:00:00Z', lt: '2025-01-01T00:00:00Z' } }] }, [1]],
      [{ must: [{ key: 'tags', match: { value: 'port' } }] }, [1]],
      [{ must: [{ key: 'tags', values_count: { gt: 1 } }] }, [1]],
      [{ must: [{ key: 'text', match: { text: 'harbour DAWN' } }] }, [1]],
      [{ must: [{ key: 'text', match: { text_any: 'mirror ledger' } }] }, [3, last]],
      [{ must: [{ key: 'text', match: { phrase: 'ledger of copper' } }] }, [3]],
      [{ must: [{ key: 'city', match: { prefix: 'Be' } }] }, [2]],
      [{ must: [{ is_empty: { key: 'city' } }] }, [last]],
      [{ must: [{ is_null: { key: 'none' } }] }, [last]],
      [{ must: [{ has_id: [3, last, 77] }] }, [3, last]],
      [{ must: [{ has_vector: '' }] }, [1, 2, 3, last]],
      [{ must: [{ nested: { key: 'items', filter: { must: [{ key: 'n', match: { value: 1 } }, { key: 'ok', match: { value: true } }] } } }] }, [3]],
      [{ must: [{ nested: { key: 'items', filter: { must: [{ key: 'n', match: { value: 1 } }, { key: 'ok', match: { value: false } }] } } }] }, []],
      [{ must: [{ key: 'items[].n', match: { value: 2 } }] }, [3]],
      [{ must: [{ key: 'place', geo_radius: { center: { lon: 5.3, lat: 60.4 }, radius: 5000 } }] }, [2]],
      [{ must: [{ key: 'place', geo_bounding_box: { top_left: { lon: 5, lat: 61 }, bottom_right: { lon: 6, lat: 60 } } }] }, [2]],
      [{ must: [{ key: 'place', geo_polygon: { exterior: { points: [{ lon: 5, lat: 60 }, { lon: 6, lat: 60 }, { lon: 6, lat: 61 }, { lon: 5, lat: 60 }] } } }] }, []],
      [{ must: [{ must: [{ should: [{ key: 'year', match: { value: 2005 } }] }] }] }, [2]],
      [{}, [1, 2, 3, last]],
    ]) assert.deepEqual(await found(filter), expected, JSON.stringify(filter));
    const slices = await Promise.all([0, 1, 2].map((index) => found({ must: [{ slice: { total: 3, index } }] })));
    assert.equal(slices.flat().length, 4);
    const hits = (await client.query(name, { query: [1, 0, 0, 0], filter: { must_not: [{ has_id: [1] }] }, limit: 1 })).points;
    assert.deepEqual(ids(hits), [3]);
    for (const filter of [{ musst: [] }, { must: [{ key: 'a' }] }, { must: [{ key: 'a', match: { like: 'x' } }] }, { must: [{ has_idd: [1] }] },
      { must: [{ key: 'a', range: { above: 1 } }] }]) assert.equal(await status(client.count(name, { filter })), 400, JSON.stringify(filter));
  });

  test(`${version}: pages`, async () => {
    const first = await client.scroll(name, { limit: 3, with_payload: false });
    assert.deepEqual(ids(first.points), [1, 2, 3]);
    assert.equal(first.next_page_offset, points[3].id);
    const rest = await client.scroll(name, { limit: 3, offset: first.next_page_offset });
    assert.deepEqual([ids(rest.points), rest.next_page_offset], [[points[3].id], null]);
    const ordered = await client.scroll(name, { order_by: { key: 'year', direction: 'desc' }, limit: 2 });
    assert.deepEqual(ids(ordered.points), [points[3].id, 3]);
    const facets = (await raw('POST', '/facet', { key: 'city' })).result.hits;
    assert.deepEqual(facets, [{ value: 'Oslo', count: 2 }, { value: 'Bergen', count: 1 }]);
  });

  test(`${version}: payloads and vectors`, async () => {
    const payload = async (id) => (await client.retrieve(name, { ids: [id] }))[0].payload;
    await client.setPayload(name, { payload: { mood: 'calm' }, points: [2], wait: true });
    assert.equal((await payload(2)).mood, 'calm');
    assert.equal((await payload(2)).city, 'Bergen');
    await client.setPayload(name, { payload: { b: 1 }, key: 'a', filter: { must: [{ key: 'mood', match: { value: 'calm' } }] } });
    assert.deepEqual((await payload(2)).a, { b: 1 });
    await client.deletePayload(name, { keys: ['a.b', 'mood'], points: [2] });
    assert.deepEqual((await payload(2)).a, {});
    await client.overwritePayload(name, { payload: { only: true }, points: [2] });
    assert.deepEqual(await payload(2), { only: true });
    await client.clearPayload(name, { points: [2] });
    assert.deepEqual(await payload(2), {});
    assert.equal(await status(client.setPayload(name, { payload: { x: 1 }, points: [4711] })), 404);
    await client.updateVectors(name, { points: [{ id: 2, vector: [0, 0, 0, 5] }], wait: true });
    assert.deepEqual(ids((await client.query(name, { query: [0, 0, 0, 1], limit: 1 })).points), [2]);
    await client.batchUpdate(name, { operations: [
      { upsert: { points: [{ id: 50, vector: [1, 1, 1, 1], payload: { n: 1 } }] } },
      { set_payload: { payload: { n: 2 }, filter: { must: [{ key: 'n', match: { value: 1 } }] } } },
      { delete: { points: [3] } }], wait: true });
    assert.deepEqual(await payload(50), { n: 2 });
    assert.deepEqual(await client.retrieve(name, { ids: [3] }), []);
    await client.deleteVectors(name, { points: [50], vector: [''] });
    assert.ok(!ids((await client.query(name, { query: [1, 1, 1, 1], limit: 100 })).points).includes(50));
    assert.equal(await status(client.delete(name, { filter: {} })), 400);
    await client.delete(name, { filter: { must: [{ has_id: [50] }] } });
    assert.equal((await client.count(name)).count, 3);
  });

  test(`${version}: declared keys, aliases, snapshots`, async () => {
    await client.createPayloadIndex(name, { field_name: 'city', field_schema: 'keyword', wait: true });
    await client.createPayloadIndex(name, { field_name: 'text', field_schema: { type: 'text', tokenizer: 'word', lowercase: true } });
    const { payload_schema: schema } = await client.getCollection(name);
    assert.deepEqual([schema.city.data_type, schema.city.points, schema.text.data_type], ['keyword', 1, 'text']);
    assert.deepEqual(ids((await client.scroll(name, { filter: { must: [{ key: 'city', match: { value: 'Oslo' } }] } })).points), [1]);
    await client.deletePayloadIndex(name, 'city');
    assert.equal((await client.getCollection(name)).payload_schema.city, undefined);
    await client.updateCollectionAliases({ actions: [{ create_alias: { collection_name: name, alias_name: `alias ${version}` } }] });
    assert.equal((await client.count(`alias ${version}`)).count, 3);
    assert.deepEqual((await client.getCollectionAliases(name)).aliases.map((entry) => entry.alias_name), [`alias ${version}`]);
    await client.updateCollectionAliases({ actions: [{ delete_alias: { alias_name: `alias ${version}` } }] });
    assert.equal(await status(client.count(`alias ${version}`)), 404);
    const made = await client.createSnapshot(name);
    assert.ok((await client.listSnapshots(name)).some((entry) => entry.name === made.name));
    await client.delete(name, { points: [1] });
    assert.equal((await raw('PUT', '/snapshots/recover', { location: `file:///snapshots/${made.name}` })).result, true);
    assert.equal((await client.count(name)).count, 3);
    assert.equal(await client.deleteSnapshot(name, made.name), true);
  });

  test(`${version}: what is wrong names its field and changes nothing`, async () => {
    const before = (await client.count(name)).count;
    const put = (list) => raw('PUT', '/points', { points: list });
    const good = { id: 900, vector: [1, 0, 0, 0] };
    for (const [bad, field] of [
      [{ id: 901, vector: [1, 0, 0] }, 'dimension'], [{ id: 901, vector: [] }, 'vector'], [{ id: 901, vector: [1, 0, 0, 1e39] }, 'vector'],
      [{ id: -1, vector: [1, 0, 0, 0] }, 'id'], [{ id: 'x', vector: [1, 0, 0, 0] }, 'id'],
      [{ id: 901 }, 'vector'], [{ id: 901, vector: { nobody: [1, 2] } }, 'vector'], [{ id: 901, vector: [1, 0, 0, 0], payload: 3 }, 'payload'],
      [{ id: 901, vector: { s: { indices: [1], values: [1] } } }, 'sparse']]) {
      const answer = await put([good, bad]);
      assert.equal(answer.status, 400, JSON.stringify(bad));
      assert.match(JSON.stringify(answer), new RegExp(field), JSON.stringify(bad));
    }
    assert.equal((await raw('POST', '/points/query', { query: [1, 0, 0, 0], limit: 1e9 })).status, 200);
    for (const body of [{ query: [1, 0, 0, 0], limit: 0 }, { query: [1, 0], limit: 1 }, { query: [], limit: 1 },
      { query: [1, 0, 0, 0], using: 'nobody' }]) assert.equal((await raw('POST', '/points/query', body)).status, 400, JSON.stringify(body));
    let deep = { key: 'a', match: { value: 1 } };
    for (let level = 0; level < 1000; ++level) deep = { must: [deep] };
    assert.equal((await raw('POST', '/points/count', { filter: deep })).status, 400);
    assert.equal((await client.count(name)).count, before);
  });

  test(`${version}: other distances and names`, async () => {
    const named = `named ${version}`;
    await client.recreateCollection(named, { vectors: { words: { size: 2, distance: 'Dot' }, image: { size: 3, distance: 'Euclid' } } });
    await client.upsert(named, { points: [{ id: 1, vector: { words: [3, 4], image: [0, 0, 1] } }, { id: 2, vector: { words: [1, 1] } }] });
    assert.deepEqual((await client.retrieve(named, { ids: [1], with_vector: ['words'] }))[0].vector, { words: [3, 4] });
    assert.deepEqual((await client.getCollection(named)).config.params.vectors.image, { size: 3, distance: 'Euclid' });
    assert.deepEqual(ids((await client.scroll(named, { filter: { must: [{ has_vector: 'image' }] } })).points), [1]);
    const scored = async (query) => (await client.query(named, query)).points.map((point) => [point.id, point.score]);
    assert.deepEqual(await scored({ query: [1, 2], using: 'words' }), [[1, 11], [2, 3]]);
    assert.deepEqual(await scored({ query: [0, 2, 1], using: 'image' }), [[1, 2]]);  // a distance
    assert.deepEqual(await scored({ query: [0, 2, 1], using: 'image', score_threshold: 1.5 }), []);
    assert.equal(await status(client.query(named, { query: [1, 2], using: 'sound' })), 400);
    assert.equal(await status(client.query(named, { query: [1, 2], using: 'image' })), 400);
    assert.equal(await client.deleteCollection(named), true);
    await client.recreateCollection(named, { vectors: { size: 2, distance: 'Manhattan' } });
    await client.upsert(named, { points: [{ id: 1, vector: [3, 4] }, { id: 2, vector: [0, 1] }] });
    assert.deepEqual(await scored({ query: [0, 0] }), [[2, 1], [1, 7]]);
    assert.equal(await client.deleteCollection(named), true);
    await client.deleteCollection(name);
    assert.equal((await client.collectionExists(name)).exists, false);
  });
}

const client = new Newer({ url: base, checkCompatibility: false });

test('chunks of a corpus are points of its collection', async () => {
  const { points: found } = await client.scroll('memory', { limit: 1000, with_payload: true });
  assert.ok(found.length > 10);
  for (const key of ['url', 'text', 'chunk_ix', 'ts', 'source']) assert.ok(key in found[0].payload, key);
  const { key } = found[0].payload;
  const own = { must: [{ key: 'key', match: { value: key } }, { key: 'chunk_ix', match: { value: 0 } }] };
  assert.equal((await client.count('memory', { filter: own })).count, 1);
  assert.equal(await status(client.setPayload('memory', { payload: { a: 1 }, points: [found[0].id] })), 409);
  assert.equal((await client.query('memory', { query: found[0].id, limit: 3 })).points.length, 3);
});

test('points are found by the other front doors', async () => {
  const post = async (path, body) => (await fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
  const text = 'The zeppelin hangar in Kiruna is heated with spruce pellets.';
  const { vectors: [vector] } = await post('/embed', { inputs: [text], normalize: true });
  await client.upsert('agent-memories', { points: [{ id: 1, vector, payload: { text, title: 'Hangar', url: 'https://example.org/hangar' } }] });
  const question = 'What is the zeppelin hangar in Kiruna heated with?';
  const { hits } = await post('/api/search', { query: question, project_key: 'agent-memories' });
  assert.equal(hits[0].text, text);
  const answer = await post('/api/kb/chat', { question, project_key: 'agent-memories' });
  assert.match(JSON.stringify(answer), /spruce pellets/);
  await client.createCollection('plain', { vectors: { size: 2, distance: 'Dot' } });
  await client.upsert('plain', { points: [{ id: 1, vector: [1, 0], payload: { text } }] });
  assert.equal((await post('/api/search', { query: question, project_key: 'plain' })).hits[0].text, text);  // by keywords only
});

test('GET / is the page for browsers and the version for clients', async () => {
  assert.match(await (await fetch(base + '/', { headers: { accept: 'text/html' } })).text(), /<html/i);
  assert.match((await (await fetch(base + '/')).json()).version, /^1\.18\./);
});
