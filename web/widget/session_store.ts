// Data that survives a page change: the visitor's token, the agent's appearance, the running turn. It is kept in sessionStorage, which pages of one
// origin share and which ends with the tab.

import type { Agent, Limits } from './wire.ts';

export interface PendingTurn {
  question: string;
  messageId: string;
}

export interface Remembered {
  token?: string;
  agent?: Agent;
  limits?: Partial<Limits>;
  open?: boolean;
  pending?: PendingTurn;
  draft?: string;
}

export class SessionStore {
  private readonly key: string;
  private value: Remembered;
  private readonly storage: Storage | undefined;

  constructor(agentId: string, storage: Storage | undefined) {
    this.key = `footnote:${agentId}`;
    this.storage = storage;
    this.value = this.read();
  }

  get current(): Readonly<Remembered> { return this.value; }

  set(change: { [Name in keyof Remembered]?: Remembered[Name] | undefined }): void {
    const next: Record<string, unknown> = { ...this.value, ...change };
    for (const name of Object.keys(next)) if (next[name] === undefined) delete next[name];
    this.value = next;
    try {
      this.storage?.setItem(this.key, JSON.stringify(this.value));
    } catch {
      // Storage is full or forbidden: the conversation ends with the page.
    }
  }

  clear(): void {
    const { agent, limits, open } = this.value;
    this.value = {};
    this.set({ agent, limits, open });
  }

  private read(): Remembered {
    try {
      const value: unknown = JSON.parse(this.storage?.getItem(this.key) ?? '{}');
      return typeof value === 'object' && value !== null ? value : {};
    } catch {
      return {};
    }
  }
}

/** The tab's storage; access throws if cookies are blocked. */
export function tabStorage(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}
