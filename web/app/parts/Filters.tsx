// The dialog that limits questions to some documents, and the chips that say which limits are set.

import { useState } from 'react';
import type { Corpus } from '../lib/api';
import { activeFilters, NO_FILTERS, TIERS, type Filters } from '../lib/filters';
import { Dialog } from './controls';
import { Icon } from './icons';

export function FilterDialog({ filters, corpora, onChange, onClose }: {
  filters: Filters; corpora: Corpus[]; onChange: (filters: Filters) => void; onClose: () => void;
}) {
  const [draft, setDraft] = useState(filters);
  const set = (name: keyof Filters) => (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value });
  const reversed = draft.dateFrom !== '' && draft.dateTo !== '' && draft.dateFrom > draft.dateTo;
  const text = (name: keyof Filters, label: string, hint: string) => (
    <label>{label}<input value={draft[name]} onChange={set(name)} placeholder={hint} maxLength={400} autoComplete="off" spellCheck={false} /></label>
  );
  return (
    <Dialog label="Filters" title="Which documents to ask" onClose={onClose}>
      <form className="fields" onSubmit={(event) => {
        event.preventDefault();
        if (reversed) return;
        onChange(draft);
        onClose();
      }}>
        <label>Project<select value={draft.project} onChange={set('project')}>
          <option value="">Default</option>
          {corpora.map(({ name, documents }) => <option key={name} value={name}>{name} ({documents})</option>)}
        </select></label>
        <label>Evidence, at least<select value={draft.tierMin} onChange={set('tierMin')}>
          <option value="">Any</option>
          {TIERS.map((tier) => <option key={tier} value={tier}>{tier.replace(/_/g, ' ')}</option>)}
        </select></label>
        {text('tags', 'Tags', 'ops, network')}
        {text('types', 'Types', 'runbook, decision')}
        {text('folders', 'Paths', 'policies/**, !drafts/**')}
        {text('languages', 'Languages', 'en, de')}
        <label>From<input type="date" value={draft.dateFrom} onChange={set('dateFrom')} /></label>
        <label>Until<input type="date" value={draft.dateTo} onChange={set('dateTo')} aria-invalid={reversed || undefined} /></label>
        {reversed && <p className="field-error" role="alert">“Until” is before “From”.</p>}
        <div className="buttons">
          <button type="button" className="button" onClick={() => setDraft(NO_FILTERS)}>Clear</button>
          <button type="submit" className="button button-primary">Apply</button>
        </div>
      </form>
    </Dialog>
  );
}

export function FilterChips({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) {
  const active = activeFilters(filters);
  if (active.length === 0) return null;
  return (
    <ul className="filter-chips" aria-label="Filters that are set">{active.map(([name, label]) => (
      <li key={name}><button type="button" className="filter-chip" onClick={() => onChange({ ...filters, [name]: '' })} aria-label={`Remove filter ${label}`}>{label}<Icon name="close" /></button></li>
    ))}</ul>
  );
}
