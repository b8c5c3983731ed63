// What became of the files that were added: progress while they are read, then an honest count.

import { useState } from 'react';
import type { AddedFile, FileState } from '../lib/upload';
import { plural } from '../lib/text';
import { IconButton } from './controls';

export interface Upload {
  project: string;
  files: AddedFile[];
  done: boolean;
}

const SHOWN_MAX = 200;
const ORDER: FileState[] = ['failed', 'left out', 'sending', 'waiting', 'indexed', 'unchanged'];

export function Uploads({ upload, onCancel, onClose }: { upload: Upload; onCancel: () => void; onClose: () => void }) {
  const [open, setOpen] = useState(true);
  const count = (state: FileState) => upload.files.filter((file) => file.state === state).length;
  const finished = upload.files.length - count('waiting') - count('sending');
  const parts = [
    count('indexed') > 0 && `${count('indexed')} added`, count('unchanged') > 0 && `${count('unchanged')} unchanged`,
    count('left out') > 0 && `${count('left out')} left out`, count('failed') > 0 && `${count('failed')} failed`,
  ].filter(Boolean);
  const title = upload.done ? `${plural(upload.files.length, 'file', 'files')}: ${parts.join(', ')}` : `Reading ${finished + 1 > upload.files.length ? finished : finished + 1} of ${plural(upload.files.length, 'file', 'files')}`;
  const shown = [...upload.files].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)).slice(0, SHOWN_MAX);
  return (
    <section className="uploads" aria-label="Added documents" data-done={upload.done || undefined}>
      <div className="uploads-head">
        <p role="status">{title}</p>
        <IconButton icon={open ? 'down' : 'up'} label={open ? 'Hide the files' : 'Show the files'} expanded={open} onClick={() => setOpen(!open)} />
        {upload.done ? <IconButton icon="close" label="Close" onClick={onClose} /> : <button type="button" className="link-button" onClick={onCancel}>Cancel</button>}
      </div>
      <progress max={upload.files.length} value={finished} aria-label="Files read" />
      {open && (
        <ul>{shown.map((file, i) => (
          <li key={i} data-state={file.state}><span className="upload-path">{file.path}</span><span className="upload-state">{file.state === 'indexed' ? 'added' : file.state === 'sending' ? 'reading' : file.state}{file.note && `: ${file.note}`}</span></li>
        ))}{upload.files.length > SHOWN_MAX && <li className="upload-state">and {upload.files.length - SHOWN_MAX} more</li>}</ul>
      )}
    </section>
  );
}
