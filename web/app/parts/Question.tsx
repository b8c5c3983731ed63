// A question of the conversation. It can be edited in place, which asks it again on a branch of its own.

import { useEffect, useRef, useState, type ReactNode } from 'react';
import { CopyButton, IconButton } from './controls';

export function Question({ text, busy, branch, editing, onEditing, onEdit }: {
  text: string; busy: boolean; branch: ReactNode; editing: boolean; onEditing: (editing: boolean) => void; onEdit: (text: string) => void;
}) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!editing) return;
    setDraft(text);
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, [editing, text]);
  if (!editing) {
    return (
      <div className="question">
        <h2 dir="auto">{text}</h2>
        <span className="question-tools">
          {branch}
          <IconButton icon="edit" label="Edit question" onClick={() => onEditing(true)} disabled={busy} />
          <CopyButton icon="copy" label="Copy question" text={() => text} />
        </span>
      </div>
    );
  }
  const save = () => {
    if (draft.trim() === '' || draft.length > 10_000) return;
    onEditing(false);
    if (draft.trim() !== text) onEdit(draft.trim());
  };
  return (
    <form className="question-edit" onSubmit={(event) => { event.preventDefault(); save(); }}>
      <textarea ref={field} aria-label="Edit the question" value={draft} dir="auto" rows={1} onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            save();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            onEditing(false);
          }
        }} />
      <div className="buttons">
        <button type="button" className="button button-small" onClick={() => onEditing(false)}>Cancel</button>
        <button type="submit" className="button button-small button-primary">Ask this instead</button>
      </div>
    </form>
  );
}

/** Steps between the versions of a message: ‹ 2 of 3 ›. */
export function BranchSteps({ ids, current, label, busy, onPick }: { ids: string[]; current: string; label: string; busy: boolean; onPick: (id: string) => void }) {
  const at = ids.indexOf(current);
  if (ids.length < 2 || at < 0) return null;
  return (
    <span className="branch" role="group" aria-label={`Versions of this ${label}`}>
      <IconButton icon="left" label={`Previous ${label}`} disabled={busy || at === 0} onClick={() => onPick(ids[at - 1]!)} />
      <span className="branch-count">{at + 1} of {ids.length}</span>
      <IconButton icon="right" label={`Next ${label}`} disabled={busy || at === ids.length - 1} onClick={() => onPick(ids[at + 1]!)} />
    </span>
  );
}
