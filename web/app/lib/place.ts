// The address of the page: /app/chat, /app/chat/{conversation}#message, /app/search?q=.

import { useSyncExternalStore } from 'react';

export interface Place {
  page: 'chat' | 'search';
  conversation: string; // empty: a new one
  message: string;
  query: string;
}

export function readPlace(): Place {
  const { pathname, hash, search } = location;
  const match = /^\/app\/chat\/([^/]+)$/.exec(pathname);
  return {
    page: pathname === '/app/search' ? 'search' : 'chat',
    conversation: match ? decodeURIComponent(match[1]!) : '',
    message: hash ? decodeURIComponent(hash.slice(1)) : '',
    query: new URLSearchParams(search).get('q') ?? '',
  };
}

const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());
addEventListener('popstate', notify);
addEventListener('hashchange', notify);

export const chatPath = (conversation = '', message = '') =>
  `/app/chat${conversation ? `/${encodeURIComponent(conversation)}` : ''}${message ? `#${encodeURIComponent(message)}` : ''}`;

export function go(path: string, replace = false): void {
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  notify();
}

export const usePath = (): string =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, () => location.pathname + location.search + location.hash);
