// The wire format: docs/visitor-chat.md.

export type Rating = 'up' | 'down';

export interface Citation {
  id: number;
  /** Empty if the source is not a web page. */
  url: string;
  title: string;
  /** The characters of the source that support the claim, if known. */
  start: number | null;
  end: number | null;
  support: 'supported' | 'unsupported' | 'unchecked';
}

export interface Theme {
  accent?: string;
  accent_text?: string;
  position?: 'right' | 'left';
  title?: string;
  logo_url?: string;
}

export interface Agent {
  id: string;
  name: string;
  persona?: { name?: string };
  theme?: Theme;
  starter_prompts?: string[];
  language?: string;
}

export interface StoredMessage {
  role: 'user' | 'assistant';
  message_id: string;
  content: string;
  citations?: Citation[];
  feedback?: Rating | null;
}

export interface Limits {
  message_chars_max: number;
  page_context_bytes_max: number;
}

export interface Session {
  conversation_id: string;
  visitor_id: string;
  token: string;
  expires_at: string;
  agent: Agent;
  limits?: Partial<Limits>;
  messages?: StoredMessage[];
}

export interface PageContext {
  url: string;
  title?: string;
  description?: string;
  og?: Record<string, string>;
  json_ld?: string;
  h1?: string[];
  h2?: string[];
  visible_text?: string;
}

export interface Question {
  message: string;
  page_url?: string;
  page_context?: PageContext;
}

export type StreamEvent =
  | { event: 'start'; conversation_id: string; message_id: string }
  | { event: 'stage'; stage: string }
  | { event: 'token'; token: string }
  | { event: 'replace'; reason: string }
  | { event: 'citations'; citations: Citation[] }
  | { event: 'done'; message_id?: string; low_confidence?: boolean; outcome?: string; truncated?: boolean }
  | { event: 'error'; code: string; message?: string };
