// The keyboard shortcuts, and the dialog that lists them.

import { useEffect } from 'react';
import { Dialog, useLatest } from './controls';

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const MOD = isMac ? '⌘' : 'Ctrl';

const LIST: [string[], string][] = [
  [['Enter'], 'Ask'],
  [['Shift', 'Enter'], 'New line'],
  [['/'], 'Go to the question'],
  [['↑'], 'Edit the last question (in an empty field)'],
  [['Esc'], 'Stop the answer, or close what is open'],
  [[MOD, 'K'], 'Find a conversation'],
  [[MOD, 'Shift', 'O'], 'New conversation'],
  [[MOD, 'Shift', 'F'], 'Search the documents'],
  [[MOD, 'B'], 'Show or hide the conversations'],
  [[MOD, '/'], 'This list'],
];

export interface Commands {
  focusQuestion: () => void;
  findConversation: () => void;
  newConversation: () => void;
  searchPage: () => void;
  toggleSidebar: () => void;
  showShortcuts: () => void;
  escape: () => boolean; // whether it did something
}

export function useShortcuts(commands: Commands): void {
  const latest = useLatest(commands);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const { current: act } = latest;
      const mod = isMac ? event.metaKey : event.ctrlKey;
      const key = event.key.toLowerCase();
      const inField = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      const run = (command: () => void) => { event.preventDefault(); command(); };
      if (document.querySelector('dialog.dialog[open]')) return; // a modal dialog has the keyboard
      if (event.key === 'Escape') { if (act.escape()) event.preventDefault(); }
      else if (mod && !event.shiftKey && key === 'k') run(act.findConversation);
      else if (mod && event.shiftKey && key === 'o') run(act.newConversation);
      else if (mod && event.shiftKey && key === 'f') run(act.searchPage);
      else if (mod && !event.shiftKey && key === 'b') run(act.toggleSidebar);
      else if (mod && key === '/') run(act.showShortcuts);
      else if (key === '/' && !inField && !mod) run(act.focusQuestion);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

export const ShortcutsDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog label="Keyboard shortcuts" title="Keyboard shortcuts" onClose={onClose}>
    <dl className="shortcuts">{LIST.map(([keys, what]) => <div key={what}><dt>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
  </Dialog>
);
