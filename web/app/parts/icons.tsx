// Line icons, 16 by 16.

const PATHS = {
  close: 'M3.5 3.5l9 9m0-9l-9 9',
  up: 'M3.5 10L8 5.5l4.5 4.5',
  down: 'M3.5 6L8 10.5 12.5 6',
  left: 'M10 3.5L5.5 8l4.5 4.5',
  right: 'M6 3.5L10.5 8 6 12.5',
  menu: 'M2.5 4.5h11M2.5 8h11m-11 3.5h11',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zm3.3-1.2L13.5 13.5',
  send: 'M8 13V3.5M4 7.2L8 3.2l4 4',
  stop: 'M4.5 4.5h7v7h-7z',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z',
  link: 'M6.8 9.2l2.4-2.4M7 4.8l1.2-1.2a2.9 2.9 0 014.1 4.1L11 9M9 11.2l-1.2 1.2a2.9 2.9 0 01-4.1-4.1L5 7',
  retry: 'M12.8 6.2A5 5 0 103 8m9.8-4.8v3h-3',
  edit: 'M3 13l.6-2.8 7.3-7.3a1.3 1.3 0 011.9 0l.3.3a1.3 1.3 0 010 1.9L5.8 12.4z',
  good: 'M2.8 7.2h2.4v6H2.8zm2.4.3l2.3-5c.9 0 1.6.7 1.6 1.6v2.3h3.2c.8 0 1.4.7 1.3 1.5l-.7 4.2c-.1.7-.6 1.1-1.3 1.1H5.2',
  bad: 'M13.2 8.8h-2.4v-6h2.4zm-2.4-.3l-2.3 5c-.9 0-1.6-.7-1.6-1.6V9.6H3.7c-.8 0-1.4-.7-1.3-1.5l.7-4.2c.1-.7.6-1.1 1.3-1.1h6.4',
  file: 'M4 2.5h5l3 3v8H4zm5 0v3h3',
  folder: 'M2.5 12.5v-9h4l1.5 2h5.5v7z',
  filter: 'M2.5 4.5h11M4.5 8h7m-5 3.5h3',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2m-5 0l.6 9h5.8l.6-9',
  download: 'M8 2.5v7.5m-3-3l3 3 3-3m-8.5 6h11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  sun: 'M8 10.8a2.8 2.8 0 100-5.6 2.8 2.8 0 000 5.6zM8 1.5v1.4m0 10.2v1.4M1.5 8h1.4m10.2 0h1.4M3.4 3.4l1 1m7.2 7.2l1 1m0-9.2l-1 1m-7.2 7.2l-1 1',
  out: 'M9.5 2.5h-6v11h6M7 8h6.5m-2.5-2.5L13.5 8 11 10.5',
  keyboard: 'M1.8 4.2h12.4v7.6H1.8zM4 6.6h.01m2.6 0h.01m2.7 0h.01m2.7 0h.01M4.6 9.4h6.8',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={PATHS[name]} /></svg>
);
