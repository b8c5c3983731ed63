// The filters of a question, as the form keeps them and as the server reads them (docs/filters.md).

import type { Fields } from './wire.ts';

export interface Filters {
  project: string;
  tags: string;
  folders: string;
  languages: string;
  types: string;
  tierMin: string;
  dateFrom: string;
  dateTo: string;
}

export const NO_FILTERS: Filters = { project: '', tags: '', folders: '', languages: '', types: '', tierMin: '', dateFrom: '', dateTo: '' };

export const TIERS = ['guideline', 'peer_reviewed', 'official', 'preprint', 'news', 'blog', 'search_hint', 'unverified'];

const LABELS: Record<keyof Filters, string> = {
  project: 'In', tags: 'Tag', folders: 'Path', languages: 'Language', types: 'Type', tierMin: 'At least', dateFrom: 'From', dateTo: 'Until',
};

const list = (text: string) => text.split(',').map((item) => item.trim()).filter(Boolean);

/** What the filters add to a request. */
export function filterBody(filters: Filters): Fields {
  const conditions: Fields = {
    ...(filters.tags && { tag_slugs: list(filters.tags) }),
    ...(filters.folders && { folder_globs: list(filters.folders) }),
    ...(filters.languages && { languages: list(filters.languages) }),
    ...(filters.types && { canonical_types: list(filters.types) }),
    ...(filters.tierMin && { evidence_tier_min: filters.tierMin }),
    ...(filters.dateFrom && { date_from: filters.dateFrom }),
    ...(filters.dateTo && { date_to: filters.dateTo }),
  };
  return { ...(filters.project && { project_key: filters.project }), ...(Object.keys(conditions).length > 0 && { filters: conditions }) };
}

/** The filters that are set, as [name, "Tag: ops"]. */
export const activeFilters = (filters: Filters): [keyof Filters, string][] =>
  (Object.keys(NO_FILTERS) as (keyof Filters)[]).filter((name) => filters[name]).map((name) => [name, `${LABELS[name]}: ${filters[name].replace(/_/g, ' ')}`]);
