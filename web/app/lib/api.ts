// Requests to the server. A 401 opens the sign-in dialog once, for all that wait, and repeats what was asked.

import { asFields, asList, asText, asTexts, type Fields } from './wire.ts';
import { plural } from './text.ts';

/** An error with a message for the user. */
export class ServerError extends Error {
  readonly status: number;

  constructor(message: string, status = 0) {
    super(message);
    this.status = status;
  }
}

let signIn: (() => Promise<boolean>) | null = null;
let asking: Promise<boolean> | null = null;

/** Registers the dialog that asks for a key; it resolves to whether there is a session now. */
export const onKeyNeeded = (ask: () => Promise<boolean>) => {
  signIn = ask;
};

async function messageOf(response: Response): Promise<string> {
  let message = '';
  try {
    message = asText(asFields(asFields(await response.json()).error).message);
  } catch {
    // no JSON: the status must do
  }
  const wait = Number(response.headers.get('retry-after'));
  const hint = wait > 0 ? ` Try again in ${plural(wait, 'second', 'seconds')}.` : '';
  return (message || `The server answered with status ${response.status}.`) + hint;
}

/** As fetch; throws ServerError unless the response is a success. */
export async function request(input: RequestInfo | URL, options: RequestInit = {}): Promise<Response> {
  for (;;) {
    let response: Response;
    try {
      response = await fetch(input, options);
    } catch (cause) {
      if (options.signal?.aborted) throw cause;
      throw new ServerError('The server could not be reached. Is “footnote serve” still running?');
    }
    if (response.ok) return response;
    if (response.status !== 401 || !signIn) throw new ServerError(await messageOf(response), response.status);
    asking ??= signIn().finally(() => (asking = null));
    if (!(await asking)) throw new ServerError('This server needs an API key. Sign in to go on.', 401);
  }
}

const json = async (path: string, options?: RequestInit): Promise<Fields> => asFields(await (await request(path, options)).json());
const send = (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> =>
  request(path, { method, signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) });

export interface Session {
  needsKey: boolean;
  signedIn: boolean;
  mayIngest: boolean;
}

const readSession = (fields: Fields): Session => {
  const scopes = asTexts(fields.scopes);
  return { needsKey: fields.needs_key === true, signedIn: fields.signed_in === true, mayIngest: scopes.includes('ingest') || scopes.includes('admin') };
};

export const fetchSession = async (): Promise<Session> => readSession(await json('/api/session'));

/** Null if the key was accepted, else what to tell the user. */
export async function openSession(key: string): Promise<string | null> {
  const response = await fetch('/api/session', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ key }) });
  if (response.ok) return null;
  return response.status === 401 ? 'That key was not accepted: it is wrong, has expired or was revoked.' : messageOf(response);
}

export const closeSession = () => send('DELETE', '/api/session');

export interface Corpus {
  name: string;
  documents: number;
}

export const fetchCorpora = async (): Promise<Corpus[]> =>
  asList((await json('/api/corpora')).corpora).map((corpus) => ({ name: asText(corpus.name), documents: Number(corpus.documents) || 0 }));

export async function fetchExamples(project: string): Promise<{ questions: string[]; ingestCommand: string }> {
  const found = await json(`/api/examples${project ? `?project_key=${encodeURIComponent(project)}` : ''}`);
  return { questions: asTexts(found.questions), ingestCommand: asText(found.ingest_command) };
}

export interface ListedConversation {
  id: string;
  title: string;
  updatedAt: string;
}

const conversationPath = (id: string, rest = '') => `/api/kb/conversations/${encodeURIComponent(id)}${rest}`;

export async function fetchConversations(search: string, after: string, signal?: AbortSignal): Promise<{ list: ListedConversation[]; next: string }> {
  const query = new URLSearchParams({ limit: '40', ...(search && { search }), ...(after && { after }) });
  const found = await json(`/api/kb/conversations?${query}`, { signal });
  const list = asList(found.conversations).map((item) => ({ id: asText(item.id), title: asText(item.title), updatedAt: asText(item.updated_at) }));
  return { list, next: asText(found.next) };
}

export const fetchConversation = (id: string): Promise<Fields> => json(conversationPath(id));
export const patchConversation = (id: string, change: { title?: string; active_leaf?: string }) => send('PATCH', conversationPath(id), change);
export const deleteConversation = (id: string) => send('DELETE', conversationPath(id));
export const stopConversation = (id: string) => send('POST', conversationPath(id, '/stop'));
export const exportLink = (id: string, format: 'markdown' | 'json') => conversationPath(id, `/export?format=${format}`);

export const rateTurn = (turn: string, rating: string | null, comment: string) =>
  send('POST', `/api/kb/turns/${encodeURIComponent(turn)}/feedback`, { rating, ...(comment && { comment }) });

export const reportGap = (question: string, project: string) =>
  send('POST', '/api/kb/gaps', { question, ...(project && { project_key: project }) });

export const search = (body: Fields, signal: AbortSignal): Promise<Fields> =>
  send('POST', '/api/search', body, signal).then(async (response) => asFields(await response.json()));

export interface DocumentText {
  title: string;
  path: string;
  url: string;
  mediaType: string;
  text: string;
  live: boolean;
}

const DOCUMENTS_MAX = 20;
const documents = new Map<string, Promise<DocumentText>>();

/** A document's text; the last ones are kept. */
export function fetchDocument(id: number, version: number): Promise<DocumentText> {
  const path = `/api/kb/documents/${id}/preview${version > 0 ? `?version=${version}` : ''}`;
  let found = documents.get(path);
  if (!found) {
    if (documents.size >= DOCUMENTS_MAX) documents.delete(documents.keys().next().value!);
    found = json(path).then((doc) => ({ title: asText(doc.title), path: asText(doc.source_path), url: asText(doc.url), mediaType: asText(doc.media_type),
      text: asText(doc.text), live: doc.live !== false }));
    found.catch(() => documents.delete(path));
    documents.set(path, found);
  }
  return found;
}
