// Shows one message of the log: the visitor's text, or an answer with its sources and actions.

import { AnswerView, sourceList } from './answer_view.ts';
import type { Failure, Message } from './conversation.ts';
import { h, icon, type Child } from './dom.ts';
import { fill, type Locale } from './locale.ts';
import type { Rating } from './wire.ts';

export interface MessageActions {
  retry(): void;
  reset(): void;
  rate(messageId: string, rating: Rating, reason: string): void;
}

const REASON_CHARS_MAX = 500;

/** The message for an error, for people. */
export function failureText({ code, retryAfterSeconds }: Failure, locale: Locale): string {
  const { words } = locale;
  switch (code) {
    case 'message_quota_exceeded':
    case 'rate_limited':
      return retryAfterSeconds === undefined ? words.quota : fill(words.quotaIn, { time: locale.inTime(retryAfterSeconds) });
    case 'overloaded':
    case 'http_503':
      return words.busy;
    case 'network':
    case 'stream_failed':
    case 'message_not_found':
      return words.network;
    case 'missing_token':
    case 'invalid_token':
      return words.expired;
    case 'agent_not_found':
    case 'origin_forbidden':
      return words.unavailable;
    case 'invalid_request':
      return words.tooLong;
    default:
      return words.failed;
  }
}

const isExpired = ({ code }: Failure): boolean => code === 'invalid_token' || code === 'missing_token';

export class MessageView {
  readonly element: HTMLElement;
  private readonly answer: AnswerView | undefined;
  private readonly after = h('div', { class: 'after' });
  private shown: Message | undefined;
  private afterKey = '';
  private askReason = false;
  private thanked = false;
  private readonly locale: () => Locale;
  private readonly actions: MessageActions;

  constructor(first: Message, locale: () => Locale, actions: MessageActions) {
    this.locale = locale;
    this.actions = actions;
    if (first.role === 'user') {
      this.element = h('div', { class: 'message user' }, h('span', { class: 'hidden' }, `${locale().words.you}: `), h('div', { class: 'bubble', dir: 'auto' }, first.text));
      return;
    }
    this.answer = new AnswerView(locale);
    this.element = h('div', { class: 'message answer' }, this.answer.element, this.after);
  }

  update(message: Message, reconnecting: boolean, language: string | undefined): void {
    if (!this.answer) return;
    const key = `${reconnecting} ${this.locale().spoken}`;
    if (this.shown === message && this.afterKey === key) return;
    this.answer.update(message.text, message.citations, language);
    this.element.dataset['status'] = message.status;
    const changed = this.shown?.status !== message.status || this.shown.stage !== message.stage || this.shown.feedback !== message.feedback ||
      this.shown.citations !== message.citations || this.afterKey !== key;
    this.shown = message;
    this.afterKey = key;
    if (changed) this.renderAfter(reconnecting);
  }

  private renderAfter(reconnecting: boolean): void {
    const message = this.shown as Message;
    const { words } = this.locale();
    const focused = this.after.contains((this.after.getRootNode() as ShadowRoot).activeElement);
    const parts: Child[] = [];
    if (message.status === 'waiting' || (message.status === 'streaming' && reconnecting)) {
      parts.push(h('p', { class: 'stage' }, h('span', { class: 'dots', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')),
        reconnecting ? words.reconnecting : words[message.stage]));
    }
    if (message.status === 'stopped') parts.push(h('p', { class: 'note' }, words.stopped, ' ', this.retryButton()));
    if (message.status === 'failed' && message.failure) parts.push(this.failure(message.failure));
    if (message.status === 'done') {
      if (message.truncated) parts.push(h('p', { class: 'note' }, words.truncated));
      if (message.lowConfidence) parts.push(h('p', { class: 'note caution' }, icon('warn'), words.lowConfidence));
      parts.push(sourceList(message.citations, this.locale()));
      if (message.id) parts.push(...this.feedback(message));
    }
    this.after.replaceChildren(...parts.filter((part): part is Node => part instanceof Node));
    if (focused) this.after.querySelector<HTMLElement>('textarea, button[aria-pressed="true"], button')?.focus({ preventScroll: true });
  }

  private retryButton(): HTMLElement {
    return h('button', { type: 'button', class: 'text-button', onclick: () => this.actions.retry() }, this.locale().words.retry);
  }

  private failure(failure: Failure): HTMLElement {
    const { words } = this.locale();
    const again = isExpired(failure)
      ? h('button', { type: 'button', class: 'text-button', onclick: () => this.actions.reset() }, words.newChat)
      : this.retryButton();
    return h('div', { class: 'failure', role: 'alert' }, icon('warn'), h('div', {}, h('p', {}, failureText(failure, this.locale())), again));
  }

  private feedback(message: Message): Child[] {
    const { words } = this.locale();
    const thumb = (rating: Rating, label: string): HTMLElement => h('button', {
      type: 'button', class: `thumb ${rating}`, 'aria-label': label, title: label, 'aria-pressed': message.feedback === rating ? 'true' : 'false',
      onclick: () => {
        this.askReason = rating === 'down';
        this.thanked = rating === 'up';
        this.actions.rate(message.id, rating, '');
      },
    }, icon('up'));
    return [
      h('div', { class: 'feedback' }, thumb('up', words.helpful), thumb('down', words.notHelpful),
        h('span', { role: 'status', class: 'thanks' }, this.thanked && message.feedback ? words.thanks : '')),
      this.askReason && message.feedback === 'down' ? this.reasonForm(message.id) : null,
    ];
  }

  private reasonForm(messageId: string): HTMLElement {
    const { words } = this.locale();
    const field = h('textarea', { rows: 2, maxlength: REASON_CHARS_MAX, dir: 'auto', 'aria-label': words.reasonLabel, placeholder: words.reasonLabel });
    const close = (): void => {
      this.askReason = false;
      this.thanked = true;
      this.renderAfter(false);
    };
    const submit = (): void => {
      if (field.value.trim()) this.actions.rate(messageId, 'down', field.value.trim());
      close();
    };
    return h('form', { class: 'reason', onsubmit: (event: Event) => { event.preventDefault(); submit(); } }, field,
      h('div', { class: 'row' },
        h('button', { type: 'submit', class: 'small-button' }, words.reasonSend),
        h('button', { type: 'button', class: 'text-button', onclick: close }, words.reasonSkip)));
  }
}
