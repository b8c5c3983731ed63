// Tests links, colours, locales, page context and the session store.

import test from 'node:test';
import assert from 'node:assert/strict';
import { bundleWidget, compressed } from '../../web/widget/build.mjs';
import { retryAfter, toJson } from '../../web/widget/api.ts';
import { catalogues } from '../../web/widget/catalogue.ts';
import { contrast, CONTRAST_MIN, parseColor, readableOn } from '../../web/widget/color.ts';
import { LinkPolicy, webAddress } from '../../web/widget/links.ts';
import { fill, Locale } from '../../web/widget/locale.ts';
import { cut, fit, joinJsonLd, jsonBytes, JSON_LD_BYTES_MAX } from '../../web/widget/page_context.ts';
import { SessionStore } from '../../web/widget/session_store.ts';
import { themeProperties } from '../../web/widget/theme.ts';

test('links lead to the site and its sources, by http, https and mail alone', () => {
  const policy = new LinkPolicy(['https://www.shop.example/a', 'http://127.0.0.1:7700/x', 'not an address', '']);
  for (const good of ['https://www.shop.example/b?c#d', 'http://www.shop.example/', 'HTTPS://WWW.SHOP.EXAMPLE/', 'http://127.0.0.1:7700/',
    'mailto:help@www.shop.example', 'mailto:help@shop.example']) assert.ok(policy.target(good), good);
  for (const bad of ['https://evil.example/', 'https://www.shop.example.evil.example/', 'https://shop.example/', 'https://www.shop.example:8443/',
    'https://www.shop.example@evil.example/', 'https://user@www.shop.example/', 'http://127.0.0.1/', 'javascript:alert(1)', 'JaVaScRiPt:alert(1)',
    'data:text/html,x', 'vbscript:x', 'blob:https://www.shop.example/1', 'file:///etc/passwd', '//www.shop.example/', '/relative', '', ' ',
    'mailto:a@evil.example', 'mailto:a@shop.example?bcc=b@evil.example', 'mailto:a@shop.example,b@evil.example', 'mailto:a@example', 'mailto:',
    'https:\\\\evil.example', 'java\nscript:alert(1)']) assert.equal(policy.target(bad), undefined, bad);
});

test('addresses are of the web or none', () => {
  assert.equal(webAddress('/a', 'https://a.example/b/c')?.href, 'https://a.example/a');
  assert.equal(webAddress('javascript:alert(1)', 'https://a.example/'), undefined);
});

test('whatever colours a site chose, text can be read', () => {
  const sides = [0, 51, 102, 153, 204, 255];
  for (const red of sides) for (const green of sides) for (const blue of sides) {
    const hex = `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
    for (const scheme of ['light', 'dark']) {
      const properties = themeProperties({ accent: hex, accent_text: hex }, scheme);
      const ratio = (one, other) => contrast(parseColor(properties[one] ?? one), parseColor(properties[other] ?? other));
      const ground = scheme === 'light' ? '#ffffff' : '#17191f';
      for (const [text, under] of [['--on-accent', '--accent'], ['--link', ground], ['--link', '--tint']]) {
        assert.ok(ratio(text, under) >= CONTRAST_MIN, `${hex} ${scheme}: ${text} on ${under} is ${ratio(text, under)}`);
      }
    }
  }
});

test('colours that are none are the widget’s own; a readable one stays', () => {
  assert.equal(parseColor('red; background: url(x)'), undefined);
  assert.deepEqual(parseColor('#fA0'), [255, 170, 0]);
  assert.deepEqual(readableOn([255, 255, 255], [0, 0, 128]), [0, 0, 128]);
  assert.equal(themeProperties({ accent: 'nonsense' }, 'light')['--accent'], themeProperties(undefined, 'light')['--accent']);
});

test('the first language that there are words for is spoken, the first of all is sent', () => {
  const pick = (...tags) => { const { tag, spoken, direction } = new Locale(tags); return [tag, spoken, direction]; };
  assert.deepEqual(pick('de-AT', 'en'), ['de-AT', 'de', 'ltr']);
  assert.deepEqual(pick(undefined, '', 'ja', 'ar-EG'), ['ja', 'ar', 'rtl']);
  assert.deepEqual(pick('not a tag!', 'FR'), ['fr', 'fr', 'ltr']);
  assert.deepEqual(pick(), ['en', 'en', 'ltr']);
});

test('every catalogue has every word, and the same places to fill', () => {
  const places = (value) => [...new Set(JSON.stringify(value).match(/\{\w+\}/g) ?? [])].sort();
  for (const [language, words] of Object.entries(catalogues)) {
    assert.deepEqual(Object.keys(words).sort(), Object.keys(catalogues.en).sort(), language);
    for (const [name, value] of Object.entries(words)) {
      assert.deepEqual(places(value), places(catalogues.en[name]), `${language}.${name}`);
      if (typeof value === 'string') assert.ok(value.trim() !== '' && (language === 'en' || value.length < 4 * catalogues.en[name].length), `${language}.${name}`);
    }
  }
});

test('plurals and times are those of the language', () => {
  const said = (tag, count) => { const locale = new Locale([tag]); return locale.plural(locale.words.sourceCount, count); };
  assert.deepEqual([said('en', 1), said('en', 2), said('de', 1), said('ar', 2)], ['1 source.', '2 sources.', '1 Quelle.', 'مصدران.']);
  const english = new Locale(['en']);
  assert.deepEqual([english.inTime(0), english.inTime(89), english.inTime(300), english.inTime(7200)], ['in 1 second', 'in 89 seconds', 'in 5 minutes', 'in 2 hours']);
  assert.equal(fill('{a} {b}', { a: '{b}' }), '{b} {b}');
});

test('Retry-After is seconds or a date', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  assert.equal(retryAfter('120', now), 120);
  assert.equal(retryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now), 60);
  assert.equal(retryAfter('Thu, 01 Jan 2020 00:01:00 GMT', now), 0);
  assert.equal(retryAfter('soon', now), undefined);
  assert.equal(retryAfter(null, now), undefined);
});

test('half of a character does not reach the server', () => {
  assert.equal(toJson({ a: ['x\uD83Dy 👶', { b: '\uDC00' }], n: 1 }), '{"a":["x\uFFFDy 👶",{"b":"\uFFFD"}],"n":1}');
});

test('a context is within its bytes at every bound; the visible text gives way first', () => {
  const context = {
    url: 'https://a.example/ü', title: 'T', description: 'D'.repeat(50), og: { type: 'product' }, json_ld: '{"a":"b"}', h1: ['H'], h2: ['I', 'J'],
    visible_text: 'Zelt "Ö"\n👶\u0001 '.repeat(60),
  };
  for (let bound = 0; bound <= jsonBytes(context) + 3; bound++) {
    const fitted = fit(context, bound);
    if (fitted === undefined) { assert.ok(bound < jsonBytes({ url: context.url }), `${bound}`); continue; }
    assert.ok(jsonBytes(fitted) <= bound, `${bound}`);
    assert.doesNotThrow(() => encodeURIComponent(fitted.visible_text ?? ''), `half a character at ${bound}`);
    if (bound >= jsonBytes({ ...context, visible_text: '' })) assert.equal(fitted.json_ld, context.json_ld);
  }
  assert.deepEqual(fit(context, 8192), context);
});

test('JSON-LD: whole blocks within the bound, those that are no JSON are passed over', () => {
  assert.equal(joinJsonLd(['{ "a" : 1 }', 'no json', '[2]']), '{"a":1}\n[2]');
  const exact = JSON.stringify('x'.repeat(JSON_LD_BYTES_MAX - 3));
  assert.equal(joinJsonLd([exact]), exact);
  assert.equal(joinJsonLd([JSON.stringify('x'.repeat(JSON_LD_BYTES_MAX - 2)), '1']), '1');
});

test('a text is never cut through a character', () => {
  assert.equal(cut('a👶', 2), 'a');
  assert.equal(cut('a👶', 3), 'a👶');
});

const storage = (broken = false) => {
  const map = new Map();
  return { map, getItem: (key) => map.get(key) ?? null, setItem: (key, value) => { if (broken) throw new Error('full'); map.set(key, value); } };
};

test('a session outlives the page, an agent’s apart from another’s', () => {
  const tab = storage();
  new SessionStore('agt_1', tab).set({ token: 't', open: true, draft: 'd' });
  assert.deepEqual(new SessionStore('agt_1', tab).current, { token: 't', open: true, draft: 'd' });
  assert.deepEqual(new SessionStore('agt_2', tab).current, {});
  const store = new SessionStore('agt_1', tab);
  store.set({ draft: undefined, agent: { id: 'agt_1', name: 'A' } });
  store.clear();
  assert.deepEqual(new SessionStore('agt_1', tab).current, { agent: { id: 'agt_1', name: 'A' }, open: true });
});

test('storage that is full, forbidden or spoilt costs the memory alone', () => {
  const full = new SessionStore('a', storage(true));
  full.set({ token: 't' });
  assert.equal(full.current.token, 't');
  new SessionStore('a', undefined).set({ token: 't' });
  const spoilt = storage();
  for (const text of ['{', 'null', '"x"', '']) {
    spoilt.map.set('footnote:a', text);
    assert.deepEqual(new SessionStore('a', spoilt).current, {});
  }
});

test('the script stays small, and asks nothing of a page’s policy', async () => {
  const script = await bundleWidget();
  assert.ok(compressed(script).length <= 40 * 1024, `${compressed(script).length} bytes`);
  assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.cssText|createContextualFragment|on(?:click|error)=/);
});
