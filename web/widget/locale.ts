// Selects the widget's language, and formats numbers and times in it.

import { catalogues, type PluralForms, type Words } from './catalogue.ts';

const RIGHT_TO_LEFT = /^(?:ar|arc|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)(?:-|$)/i;

/** A well-formed language tag, or undefined. */
function wellFormed(tag: string | undefined | null): string | undefined {
  if (!tag) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

export class Locale {
  /** The requested language, sent to the server. */
  readonly tag: string;
  /** The language of the widget's own texts: the closest available one. */
  readonly spoken: string;
  readonly words: Words;

  /** Tags in order of preference; invalid ones are skipped. */
  constructor(candidates: Iterable<string | undefined | null>) {
    const tags = [...candidates].map(wellFormed).filter((tag) => tag !== undefined);
    this.tag = tags[0] ?? 'en';
    this.spoken = tags.map((tag) => this.base(tag)).find((base) => base in catalogues) ?? 'en';
    this.words = catalogues[this.spoken] as Words;
  }

  get direction(): 'rtl' | 'ltr' { return RIGHT_TO_LEFT.test(this.spoken) ? 'rtl' : 'ltr'; }

  plural(forms: PluralForms, count: number): string {
    const form = forms[new Intl.PluralRules(this.spoken).select(count)] ?? forms.other;
    return fill(form, { n: new Intl.NumberFormat(this.spoken).format(count) });
  }

  /** "in 5 minutes". */
  inTime(seconds: number): string {
    const format = new Intl.RelativeTimeFormat(this.spoken, { numeric: 'always' });
    if (seconds < 90) return format.format(Math.max(1, Math.ceil(seconds)), 'second');
    if (seconds < 90 * 60) return format.format(Math.ceil(seconds / 60), 'minute');
    return format.format(Math.ceil(seconds / 3600), 'hour');
  }

  private base(tag: string): string { return tag.split('-')[0]?.toLowerCase() ?? tag; }
}

/** Replaces `{name}` by its value. */
export const fill = (text: string, values: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
