// A turn: one question and its outcome. It is updated from the answer's stream.

import { AskError, asText, asTexts, codeUnitOffsets, postQuestion } from './api.js';
import { EventTooLong, readEvents } from './sse.js'; // made from web/widget/sse.ts

const ANSWER_CHARS = 400_000;

export function newTurn(question, corpus) {
  return {
    question,
    corpus,
    status: 'streaming', // then: done, refused, stopped or failed
    sources: new Map(),
    text: '',
    citations: [],
    checks: [], // checked sentences: {support, numbers, answerFrom, answerTo}
    confidence: null,
    refusal: null,
    replaced: '', // why the model's own text was withdrawn
    error: null,
    latencyMs: null,
    ended: false,
  };
}

function sourceFrom(chunk) {
  const own = chunk.providerMetadata?.footnote ?? {};
  return {
    number: Number(own.number ?? chunk.sourceId),
    documentId: own.documentId,
    version: own.version,
    title: asText(chunk.title) || asText(own.sourcePath) || 'Untitled',
    path: asText(own.sourcePath) || asText(chunk.url),
    headings: asTexts(own.headings),
    snippet: asText(own.snippet),
  };
}

/** Gives sentences whose source the model forgot to name, and the check found, their number. */
function insertBound(turn) {
  const bound = turn.citations.filter((citation) => citation.bound === true && turn.sources.has(citation.number));
  for (const citation of bound.sort((a, b) => b.answerTo - a.answerTo)) {
    const at = citation.answerTo;
    const marker = ` [${citation.number}]`;
    turn.text = turn.text.slice(0, at) + marker + turn.text.slice(at);
    for (const range of [...turn.citations, ...turn.checks]) {
      if (range.answerFrom >= at) range.answerFrom += marker.length;
      if (range.answerTo >= at) range.answerTo += marker.length;
    }
  }
}

/** Applies one chunk of the stream to the turn. Chunks of unknown types are ignored. */
function applyChunk(turn, chunk) {
  switch (chunk.type) {
    case 'source-url': {
      const source = sourceFrom(chunk);
      if (Number.isInteger(source.number)) turn.sources.set(source.number, source);
      break;
    }
    case 'text-start':
      if (turn.text !== '') turn.text += '\n\n';
      break;
    case 'data-replace': // what was said so far is no answer; what follows is
      turn.text = '';
      turn.sources.clear();
      turn.checks = [];
      turn.replaced = asText(chunk.data?.reason) || 'unsupported';
      break;
    case 'text-delta':
      turn.text += asText(chunk.delta);
      if (turn.text.length > ANSWER_CHARS) throw new AskError('The answer is longer than this page can show.');
      break;
    case 'data-citations':
      turn.citations = (Array.isArray(chunk.data) ? chunk.data : []).map((citation) => {
        const [from, to] = codeUnitOffsets(turn.text, [citation.answerStart ?? 0, citation.answerEnd ?? 0]);
        return { ...citation, answerFrom: from, answerTo: to };
      });
      insertBound(turn);
      break;
    case 'data-check': {
      const [from, to] = codeUnitOffsets(turn.text, [chunk.data?.answerStart ?? 0, chunk.data?.answerEnd ?? 0]);
      turn.checks.push({ support: asText(chunk.data?.support), numbers: chunk.data?.numbers ?? [], answerFrom: from, answerTo: to });
      break;
    }
    case 'data-confidence':
      turn.confidence = chunk.data ?? null;
      break;
    case 'data-refusal':
      turn.refusal = chunk.data ?? {};
      break;
    case 'error':
      throw new AskError(asText(chunk.errorText) || 'The answer failed.');
    case 'finish':
      turn.ended = true;
      turn.latencyMs = chunk.messageMetadata?.latencyMs ?? null;
      break;
  }
}

/** Asks and updates the turn until the stream ends. Throws AskError; on abort, whatever fetch throws. */
export async function streamTurn(turn, signal, onChange) {
  const response = await postQuestion(turn.question, turn.corpus, signal);
  try {
    for await (const { data } of readEvents(response.body)) {
      if (data === '[DONE]') {
        turn.ended = true;
        break;
      }
      applyChunk(turn, JSON.parse(data));
      onChange();
    }
  } catch (cause) {
    if (signal.aborted || cause instanceof AskError) throw cause;
    if (cause instanceof EventTooLong) throw new AskError('The server sent more data than this page can handle.');
    if (cause instanceof SyntaxError) throw new AskError('The server sent something that this page cannot read.');
    throw new AskError('The connection was lost before the answer was complete.');
  }
  if (!turn.ended) throw new AskError('The answer was cut off before its end.');
  if (!turn.refusal && turn.text.trim() === '') throw new AskError('The server finished without an answer.');
}

/** Numbers of the cited sources, in order of their first citation. */
export function citedNumbers(turn) {
  const cited = new Set();
  for (const match of turn.text.matchAll(/\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()/g)) {
    for (const number of match[1].split(',').map(Number)) if (turn.sources.has(number)) cited.add(number);
  }
  return [...cited];
}

/** The citations that are bound to a sentence of this source. */
export const marksOf = (turn, number) =>
  turn.citations.filter((citation) => citation.number === number && citation.sourceEnd > citation.sourceStart);

/** Unsupported sentences: those whose sources do not support them, and statements without a source. */
export const doubtful = (turn) => turn.checks.filter(({ support }) => support === 'unsupported' || support === 'uncited');

/** The citation of the marker at `position` in the answer's text. */
export function markAt(turn, number, position) {
  const distance = (mark) => Math.abs(mark.answerTo - position) + (mark.answerFrom > position ? 1e6 : 0);
  const candidates = turn.citations.filter((citation) => citation.number === number);
  return candidates.reduce((best, mark) => (!best || distance(mark) < distance(best) ? mark : best), null);
}

/** The heading path of a passage, without repeating the title. */
export const trail = (source) =>
  source.headings.filter((heading, i) => i > 0 || heading !== source.title).join(' › ');
