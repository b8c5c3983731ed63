// Marks sentences of an answer without changing its elements, with the CSS custom highlight API.

/** The ranges of `container` that show [from, to) of the raw text. */
export function rangesOf(container: Element, from: number, to: number): Range[] {
  const ranges: Range[] = [];
  for (const span of container.querySelectorAll<HTMLElement>('[data-at]')) {
    const node = span.firstChild;
    if (!(node instanceof Text)) continue;
    const start = Number(span.dataset.at);
    const first = Math.max(from - start, 0);
    const last = Math.min(to - start, node.length);
    if (first >= last) continue;
    const range = new Range();
    range.setStart(node, first);
    range.setEnd(node, last);
    ranges.push(range);
  }
  return ranges;
}

const groups = new Map<string, Map<unknown, Range[]>>();

/** Sets the ranges that `owner` marks with this name; the marks of all owners are shown together. */
export function setHighlight(name: string, owner: unknown, ranges: Range[]): void {
  if (typeof CSS === 'undefined' || !CSS.highlights) return;
  const group = groups.get(name) ?? new Map<unknown, Range[]>();
  groups.set(name, group);
  if (ranges.length > 0) group.set(owner, ranges);
  else group.delete(owner);
  const all = [...group.values()].flat();
  if (all.length > 0) CSS.highlights.set(name, new Highlight(...all));
  else CSS.highlights.delete(name);
}
