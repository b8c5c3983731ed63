// What the server sends, read with care: a field that is missing or of another type never breaks the page.

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
export const asNumber = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);
export const asTexts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []);
export const asList = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []);
export const asFields = (value: unknown): Fields => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {});

export type Fields = Record<string, unknown>;

/** A field by either of its names: streams use camelCase, stored objects snake_case. */
export const either = (fields: Fields, camel: string): unknown =>
  fields[camel] ?? fields[camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];

export interface Source {
  number: number;
  documentId: number;
  version: number;
  title: string;
  path: string;
  url: string;
  headings: string[];
  snippet: string;
  place: string;
  origin: string;
  tier: string;
}

export interface Citation {
  number: number;
  answerStart: number; // code points
  answerEnd: number;
  sourceStart: number;
  sourceEnd: number;
  quote: string;
  place: string;
  support: string;
}

export interface Check {
  answerStart: number;
  answerEnd: number;
  numbers: number[];
  support: string;
}

export interface Refusal {
  reason: string;
  body: string;
  hint: string;
  nearest: Source[];
}

export function readSource(fields: Fields, number?: number): Source {
  return {
    number: number ?? asNumber(fields.number) ?? 0,
    documentId: asNumber(either(fields, 'documentId')) ?? 0,
    version: asNumber(fields.version) ?? 0,
    title: asText(fields.title) || asText(either(fields, 'sourcePath')) || 'Untitled',
    path: asText(either(fields, 'sourcePath')),
    url: asText(fields.url),
    headings: asTexts(fields.headings),
    snippet: asText(fields.snippet),
    place: asText(fields.place),
    origin: asText(fields.origin),
    tier: asText(either(fields, 'evidenceTier')),
  };
}

export const readCitation = (fields: Fields, number?: number): Citation => ({
  number: number ?? asNumber(fields.number) ?? 0,
  answerStart: asNumber(either(fields, 'answerStart')) ?? 0,
  answerEnd: asNumber(either(fields, 'answerEnd')) ?? 0,
  sourceStart: asNumber(either(fields, 'sourceStart')) ?? 0,
  sourceEnd: asNumber(either(fields, 'sourceEnd')) ?? 0,
  quote: asText(fields.quote),
  place: asText(fields.place),
  support: asText(fields.support) || 'unchecked',
});

export const readCheck = (fields: Fields): Check => ({
  answerStart: asNumber(either(fields, 'answerStart')) ?? 0,
  answerEnd: asNumber(either(fields, 'answerEnd')) ?? 0,
  numbers: Array.isArray(fields.numbers) ? fields.numbers.filter((number) => typeof number === 'number') : [],
  support: asText(fields.support),
});

export const readRefusal = (fields: Fields): Refusal => ({
  reason: asText(fields.reason),
  body: asText(fields.body),
  hint: asText(fields.hint),
  nearest: asList(fields.nearest).map((near) => readSource(near)),
});

/** The headings above a passage, without those that repeat the title or each other. */
export const trail = (source: Source): string =>
  source.headings.filter((heading, i) => heading !== source.title && heading !== source.headings[i - 1]).join(' › ');
