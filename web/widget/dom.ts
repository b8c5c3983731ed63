// DOM helpers for the widget. Text is only inserted as text nodes: there is no innerHTML, so no Trusted Types policy is needed.

type Value = string | number | boolean | null | undefined | ((event: never) => void);
export type Child = Node | string | null | undefined | false;

/** Creates an element. Properties are attributes, or listeners if named `on…`; children are nodes or text. */
export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, properties: Record<string, Value> = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  set(element, properties);
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** Changes attributes; null, undefined and false remove one. */
export function set(element: Element, properties: Record<string, Value>): void {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

const SVG = 'http://www.w3.org/2000/svg';

const paths = {
  chat: 'M12 3.5c5 0 9 3.3 9 7.6s-4 7.6-9 7.6c-.9 0-1.8-.1-2.6-.3L5 20.5l.7-3.6C4 15.500 3 13.400 3 11.100c0-4.300 4-7.600 9-7.600ZM12 7.600v7M9 9.400l6 3.500M15 9.400l-6 3.500',
  down: 'm6 9.500 6 6 6-6',
  close: 'M6 6l12 12M18 6 6 18',
  restart: 'M4.500 12a7.500 7.500 0 1 0 2.400-5.500M4.500 4v4h4',
  send: 'M12 19V5.500M6 11l6-6 6 6',
  stop: 'M7.500 7.500h9v9h-9z',
  up: 'M7.500 10.500v9h-3v-9ZM7.500 11l3.700-7c1.500 0 2.500 1.100 2.300 2.600L13 10h5c1.300 0 2.200 1.200 1.900 2.400l-1.400 5.700c-.2.8-1 1.400-1.900 1.400H7.500',
  warn: 'M12 8.500v4.500M12 16.300v.2M10.700 4.200 3 17.700c-.6 1 .1 2.300 1.300 2.300h15.400c1.200 0 1.900-1.300 1.300-2.300L13.300 4.200c-.6-1-2-1-2.600 0Z',
  offline: 'M4 4l16 16M5 12.500a10 10 0 0 1 4-2.400M2 9a15 15 0 0 1 4-2.600M19 12.500a10 10 0 0 0-5-2.800M22 9A15 15 0 0 0 10 5.200M8.500 16a5 5 0 0 1 7 0M12 19.500v.1',
} as const;

export type IconName = keyof typeof paths;

export function icon(name: IconName): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  set(svg, { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' });
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}
