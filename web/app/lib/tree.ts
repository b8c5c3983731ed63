// A conversation as the server keeps it: a tree of messages. An edited question is a sibling of the old one, as is a new answer.

import type { Message } from './answer.ts';
import { asFields, asList, asNumber, asText, asTexts, either, type Fields } from './wire.ts';

export interface Node {
  message: Message;
  parent: string; // empty for a root
  feedback: { rating: string; comment: string } | null;
}

export interface Tree {
  id: string;
  title: string;
  projects: string[];
  leaf: string;
  nodes: Map<string, Node>;
}

/** A stored message with the parts that it had while it streamed. */
function storedMessage(fields: Fields): Message {
  const meta = asFields(fields.meta);
  const role = fields.role === 'assistant' ? 'assistant' : 'user';
  const parts: Message['parts'] = [];
  if (role === 'assistant') {
    const marks: Fields[] = [];
    for (const source of asList(fields.citations)) {
      const number = asNumber(source.number) ?? 0;
      parts.push({ type: 'source-url', sourceId: String(number), url: asText(source.url), title: asText(source.title),
        providerMetadata: { footnote: source as Record<string, never> } });
      for (const mark of asList(source.marks)) marks.push({ ...mark, number });
    }
    parts.push({ type: 'text', text: asText(fields.text) });
    if (marks.length > 0) parts.push({ type: 'data-citations', data: marks });
    for (const check of asList(meta.checks)) parts.push({ type: 'data-check', data: check });
    for (const sentence of asList(fields.uncited ?? meta.uncited)) parts.push({ type: 'data-check', data: { ...sentence, numbers: [], support: 'uncited' } });
    const reason = asText(either(fields, 'refusalReason'));
    if (reason) parts.push({ type: 'data-refusal', data: { reason, body: asText(fields.text), nearest: meta.nearest, hint: meta.hint } });
    if (fields.confidence !== undefined) parts.push({ type: 'data-confidence', data: { confidence: reason ? null : fields.confidence, tier: tierOf(asNumber(fields.confidence), reason) } });
    if (meta.followups !== undefined) parts.push({ type: 'data-followups', data: meta.followups });
  } else {
    parts.push({ type: 'text', text: asText(fields.text) });
  }
  return { id: asText(fields.id), role, parts, metadata: { ...meta, turnId: either(fields, 'turnId'), partial: fields.partial === true } };
}

const tierOf = (confidence: number | null, refusal: string) =>
  refusal ? 'refused' : confidence === null ? '' : confidence >= 80 ? 'high' : confidence >= 50 ? 'moderate' : 'low';

export function readTree(fields: Fields): Tree {
  const nodes = new Map<string, Node>();
  for (const message of asList(fields.messages)) {
    const given = message.feedback ? asFields(message.feedback) : null;
    nodes.set(asText(message.id), {
      message: storedMessage(message),
      parent: asText(either(message, 'parentId')),
      feedback: given && { rating: asText(given.rating), comment: asText(given.comment) },
    });
  }
  return { id: asText(fields.id), title: asText(fields.title), projects: asTexts(fields.project_keys),
    leaf: asText(either(fields, 'activeLeaf')), nodes };
}

/** The messages from the root to `leaf`. */
export function pathTo(tree: Tree, leaf: string): Message[] {
  const path: Message[] = [];
  const seen = new Set<string>(); // a loop can only come from a broken store, and must not hang the page
  for (let id = leaf; id && !seen.has(id); ) {
    seen.add(id);
    const node = tree.nodes.get(id);
    if (!node) break;
    path.unshift(node.message);
    id = node.parent;
  }
  return path;
}

/** The messages with the same parent and role, in the order in which they were made. */
export function siblings(tree: Tree, id: string): string[] {
  const own = tree.nodes.get(id);
  if (!own) return [];
  return [...tree.nodes].filter(([, node]) => node.parent === own.parent && node.message.role === own.message.role).map(([key]) => key);
}

/** The end of the newest branch below `id`. */
export function newestLeaf(tree: Tree, id: string): string {
  let leaf = id;
  for (let steps = 0; steps < tree.nodes.size; steps++) {
    const child = [...tree.nodes].filter(([, node]) => node.parent === leaf).at(-1);
    if (!child) break;
    leaf = child[0];
  }
  return leaf;
}
