// The site's colours as CSS properties, each readable on its background.

import { blackOrWhite, contrast, CONTRAST_MIN, formatColor, mix, parseColor, readableOn, type Rgb } from './color.ts';
import type { Theme } from './wire.ts';

export type Scheme = 'light' | 'dark';

const grounds: Record<Scheme, Rgb> = { light: [255, 255, 255], dark: [23, 25, 31] };
const ACCENT: Rgb = [31, 79, 214];
const WHITE: Rgb = [255, 255, 255];
/** Thin text needs more than the minimum contrast. */
const LINK_CONTRAST = 6;

export function themeProperties(theme: Theme | undefined, scheme: Scheme): Record<string, string> {
  const accent = parseColor(theme?.accent) ?? ACCENT;
  const chosen = parseColor(theme?.accent_text) ?? WHITE;
  const onAccent = contrast(accent, chosen) >= CONTRAST_MIN ? chosen : blackOrWhite(accent);
  const ground = grounds[scheme];
  const tint = mix(ground, accent, scheme === 'light' ? 0.08 : 0.16);
  return {
    '--accent': formatColor(accent),
    '--on-accent': formatColor(onAccent),
    '--link': formatColor(readableOn(tint, readableOn(ground, accent, LINK_CONTRAST))),
    '--tint': formatColor(tint),
  };
}
