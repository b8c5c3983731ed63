// Makes a site's colours readable: text always has WCAG's contrast of 4.5 to 1.

export type Rgb = readonly [number, number, number];

export const CONTRAST_MIN = 4.5;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/** "#rgb" or "#rrggbb". */
export function parseColor(text: string | undefined): Rgb | undefined {
  const hex = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(text?.trim() ?? '')?.[1];
  if (hex === undefined) return undefined;
  const wide = hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
  const part = (at: number): number => Number.parseInt(wide.slice(at, at + 2), 16);
  return [part(0), part(2), part(4)];
}

export const formatColor = (color: Rgb): string => `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

export function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

export const mix = (from: Rgb, to: Rgb, share: number): Rgb =>
  [0, 1, 2].map((at) => Math.round((from[at] ?? 0) + ((to[at] ?? 0) - (from[at] ?? 0)) * share)) as unknown as Rgb;

/** The candidate with the higher contrast to `ground`. */
export const blackOrWhite = (ground: Rgb): Rgb => (contrast(ground, WHITE) > contrast(ground, BLACK) ? WHITE : BLACK);

/** `color`, moved towards black or white only as far as needed to be readable on `ground`. */
export function readableOn(ground: Rgb, color: Rgb, least = CONTRAST_MIN): Rgb {
  const end = blackOrWhite(ground);
  for (let step = 0; step <= 20; step++) {
    const candidate = mix(color, end, step / 20);
    if (contrast(ground, candidate) > least) return candidate;
  }
  return end;
}
