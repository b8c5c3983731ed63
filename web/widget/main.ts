// Reads the script tag, starts the widget and runs the commands that were queued before it loaded.

import { webAddress } from './links.ts';
import { Widget, type Settings } from './widget.ts';

type Command = readonly [name: string, ...values: unknown[]];

interface Site {
  footnote?: unknown;
  footnoteSettings?: Record<string, unknown>;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);

/** The tag that loaded this script. */
function findTag(): HTMLScriptElement | undefined {
  if (document.currentScript instanceof HTMLScriptElement) return document.currentScript;
  return document.querySelector<HTMLScriptElement>('script[data-agent][src*="/widget.js"]') ?? undefined;
}

function readSettings(tag: HTMLScriptElement, given: Record<string, unknown>): Settings | undefined {
  const agent = text(tag.dataset['agent']) ?? text(given['agent']);
  const server = webAddress(text(given['server']) ?? tag.src, location.href);
  if (!agent || !server) return undefined;
  const scheme = text(tag.dataset['colorScheme']) ?? text(given['colorScheme']);
  return {
    agent,
    origin: server.origin,
    locale: text(tag.dataset['locale']) ?? text(given['locale']),
    colorScheme: scheme === 'light' || scheme === 'dark' ? scheme : undefined,
    hideLauncher: given['hideLauncher'] === true || 'hideLauncher' in tag.dataset,
    pageContext: given['pageContext'] !== false && tag.dataset['pageContext'] !== 'off',
  };
}

/** `footnote.push(["open"])` works before and after the script has loaded; `footnote.open()` only after. */
function takeCommands(site: Site, widget: Widget): void {
  const commands: Record<string, (...values: never[]) => void> = {
    open: () => widget.open(),
    close: () => widget.close(),
    toggle: () => widget.toggle(),
    reset: () => widget.reset(),
    setLocale: (tag: unknown) => { if (typeof tag === 'string') widget.setLocale(tag); },
    on: (name: string, listener: unknown) => widget.on(name, listener),
  };
  const run = (command: unknown): void => {
    if (!Array.isArray(command)) return;
    const [name, ...values] = command as unknown as Command;
    if (Object.hasOwn(commands, name)) commands[name]?.(...(values as never[]));
  };
  const queued: unknown[] = Array.isArray(site.footnote) ? site.footnote : [];
  site.footnote = { ...commands, push: (...list: unknown[]) => list.forEach(run), loaded: true };
  queued.forEach(run);
}

function start(): void {
  const site = window as unknown as Site;
  if ((site.footnote as { loaded?: boolean } | undefined)?.loaded) return; // the page contains the tag twice
  const tag = findTag();
  const settings = tag && readSettings(tag, site.footnoteSettings ?? {});
  if (!settings) {
    console.error('footnote: the script tag needs data-agent="agt_..."');
    return;
  }
  const begin = (): void => {
    const widget = new Widget(settings);
    widget.start();
    takeCommands(site, widget);
  };
  if (document.body) begin();
  else document.addEventListener('DOMContentLoaded', begin, { once: true });
}

start();
