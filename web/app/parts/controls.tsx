// Small controls that several parts use.

import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { Icon, type IconName } from './icons';

export function IconButton({ icon, label, onClick, pressed, disabled, expanded, className, children }: {
  icon: IconName; label: string; onClick?: (event: React.MouseEvent<HTMLButtonElement>) => void; pressed?: boolean; disabled?: boolean; expanded?: boolean;
  className?: string; children?: ReactNode;
}) {
  return (
    <button type="button" className={`icon-button ${className ?? ''}`} aria-label={label} title={label} onClick={onClick} aria-pressed={pressed}
      aria-expanded={expanded} disabled={disabled}>
      <Icon name={icon} />{children}
    </button>
  );
}

/** Copies `text()` and says for a moment whether that worked. */
export function CopyButton({ label, text, icon }: { label: string; text: () => string; icon?: IconName }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(''), 1600);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('Copied');
    } catch {
      setSaid('Could not copy');
    }
  };
  if (icon) {
    return (
      <button type="button" className="icon-button" aria-label={said || label} title={said || label} onClick={copy} data-said={said || undefined}>
        <Icon name={icon} />{said && <span className="said" aria-hidden="true">{said}</span>}
      </button>
    );
  }
  return <button type="button" className="link-button" onClick={copy}>{said || label}</button>;
}

/** A modal dialog that closes by Escape, by its button and by a click beside it. */
export function Dialog({ label, className, onClose, children, title }: {
  label: string; className?: string; onClose: () => void; children: ReactNode; title?: string;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current!;
    const opener = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog ref={ref} className={`dialog ${className ?? ''}`} aria-label={label}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onClick={(event) => { if (event.target === ref.current) onClose(); }}>
      <div className="dialog-body">
        {title && <div className="dialog-head"><h2>{title}</h2><IconButton icon="close" label="Close" onClick={onClose} /></div>}
        {children}
      </div>
    </dialog>
  );
}

export function useMediaQuery(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = () => setMatches(list.matches);
    update();
    list.addEventListener('change', update);
    return () => list.removeEventListener('change', update);
  }, [query]);
  return matches;
}

/** The current value, for handlers that outlive a render. */
export function useLatest<T>(value: T): RefObject<T> {
  const ref = useRef(value);
  ref.current = value;
  return ref;
}
