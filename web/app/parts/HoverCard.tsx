// The passage behind a citation, shown beside it while the pointer or the focus is on it.

import { useLayoutEffect, useRef, useState } from 'react';
import type { Placed } from '../lib/answer';
import { trail, type Citation, type Source } from '../lib/wire';

export interface Hovered {
  source: Source;
  mark: Placed<Citation> | null;
  anchor: HTMLElement;
}

const GAP = 8;
const QUOTE_CHARS = 420;

/** Markdown marks in a short quotation would only distract. */
const bare = (text: string) => text.replace(/\[([^\]\n]+)\]\([^)\s]*\)/g, '$1').replace(/^[#>|\s-]+|[*`]|\|/gm, ' ').replace(/\s+/g, ' ').trim();

export function HoverCard({ hovered: { source, mark, anchor } }: { hovered: Hovered }) {
  const card = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<{ left: number; top: number } | null>(null);
  useLayoutEffect(() => {
    const at = anchor.getBoundingClientRect();
    const own = card.current!.getBoundingClientRect();
    const left = Math.max(GAP, Math.min(at.left + at.width / 2 - own.width / 2, innerWidth - own.width - GAP));
    const above = at.top - own.height - GAP;
    const fitsBelow = at.bottom + own.height + 2 * GAP < innerHeight;
    const top = above < GAP || (at.top < innerHeight * 0.4 && fitsBelow) ? at.bottom + GAP : above; // not over the question
    setPlace({ left, top });
  }, [anchor, source, mark]);
  const quote = bare(mark?.quote || source.snippet);
  const where = [trail(source), mark?.place || source.place].filter(Boolean).join(' · ');
  return (
    <div ref={card} className="hover-card" role="tooltip" style={place ? { left: place.left, top: place.top, opacity: 1 } : undefined}>
      <p className="hover-title" dir="auto">{source.title}</p>
      {where && <p className="hover-where" dir="auto">{where}</p>}
      {quote && <p className="hover-quote" dir="auto">{quote.length > QUOTE_CHARS ? `${quote.slice(0, QUOTE_CHARS)}…` : quote}</p>}
      {mark && <p className="hover-support" data-support={mark.support}>{mark.support === 'supported' ? 'Checked: the passage supports the sentence.'
        : mark.support === 'unsupported' ? 'Checked: the passage does not support the sentence.' : 'Not checked.'}</p>}
    </div>
  );
}
