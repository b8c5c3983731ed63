// Where questions are written: below the conversation.

import { useEffect, useImperativeHandle, useRef, useState, type Ref } from 'react';
import { activeFilters, type Filters } from '../lib/filters';
import { FilterChips } from './Filters';
import { Icon } from './icons';
import { IconButton } from './controls';

const QUESTION_CHARS_MAX = 10_000;

export interface ComposerHandle {
  focus: () => void;
  put: (text: string) => void;
}

export function Composer({ busy, filters, mayAdd, placeholder, onSend, onStop, onFilters, onSetFilters, onAdd, onEditLast, ref }: {
  busy: boolean; filters: Filters; mayAdd: boolean; placeholder: string; onSend: (text: string) => void; onStop: () => void; onFilters: () => void;
  onSetFilters: (filters: Filters) => void; onAdd: (kind: 'files' | 'folder') => void; onEditLast: () => void; ref: Ref<ComposerHandle>;
}) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => ({
    focus: () => field.current?.focus(),
    put: (value) => { setText(value); field.current?.focus(); },
  }), []);
  useEffect(() => { if (matchMedia('(hover: hover)').matches) field.current?.focus({ preventScroll: true }); }, []);
  const tooLong = text.length > QUESTION_CHARS_MAX;
  const send = () => {
    if (busy || tooLong || text.trim() === '') return;
    onSend(text.trim());
    setText('');
  };
  return (
    <form className="composer" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <FilterChips filters={filters} onChange={onSetFilters} />
      <label className="visually-hidden" htmlFor="question">Your question</label>
      <textarea id="question" ref={field} rows={1} dir="auto" value={text} autoComplete="off" enterKeyHint="send" placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            send();
          } else if (event.key === 'ArrowUp' && text === '') {
            event.preventDefault();
            onEditLast();
          }
        }} />
      <div className="composer-bar">
        <IconButton icon="filter" label="Filters" onClick={onFilters} pressed={activeFilters(filters).length > 0} />
        {mayAdd && <IconButton icon="file" label="Add files" onClick={() => onAdd('files')} />}
        {mayAdd && <IconButton icon="folder" label="Add a folder" onClick={() => onAdd('folder')} />}
        <span className="composer-hint">{tooLong ? `${(text.length - QUESTION_CHARS_MAX).toLocaleString('en')} characters too long` : 'Enter asks, Shift + Enter starts a new line'}</span>
        {busy
          ? <button type="button" className="button send" onClick={onStop}><Icon name="stop" />Stop</button>
          : <button type="submit" className="button button-primary send" disabled={text.trim() === '' || tooLong}><Icon name="send" />Ask</button>}
      </div>
    </form>
  );
}
