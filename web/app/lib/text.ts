// A piece of a text that remembers where each of its characters came from, and conversions between the two ways to count characters.

/** Characters joined from several places: `value[i]` of a piece is at `raw + (i - at)` in the whole text. */
export interface Mapped {
  value: string;
  pieces: { at: number; raw: number }[];
}

export const rawOf = ({ pieces }: Mapped, index: number): number => {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pieces[middle]!.at <= index) low = middle;
    else high = middle - 1;
  }
  const piece = pieces[low];
  return piece ? piece.raw + index - piece.at : 0;
};

/** Converts `points` from Unicode code points (server) to UTF-16 code units (JavaScript). */
export function codeUnits(text: string, points: number[]): number[] {
  const found = new Map<number, number>();
  let unit = 0;
  let point = 0;
  for (const target of [...new Set(points)].sort((a, b) => a - b)) {
    while (point < target && unit < text.length) {
      unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
      point++;
    }
    found.set(target, unit);
  }
  return points.map((wanted) => found.get(wanted)!);
}

export const plural = (count: number, one: string, many: string) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export const foldSpaces = (text: string) => text.replace(/\s+/g, ' ').trim();
