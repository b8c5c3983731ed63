// Adds files to a corpus and says what became of each of them.

import { request, ServerError } from './api.ts';
import { asFields, asList, asNumber, asText } from './wire.ts';

export type FileState = 'waiting' | 'sending' | 'indexed' | 'unchanged' | 'left out' | 'failed';

export interface AddedFile {
  path: string;
  state: FileState;
  note: string;
}

export interface ChosenFile {
  path: string;
  file: File;
}

const BATCH_FILES = 20;
const BATCH_BYTES = 8 << 20; // in base64 this stays well below the server's limit of 32 MiB
const FILE_BYTES_MAX = 16 << 20;
const FILES_MAX = 10_000;

/** The files of a drop, folders included. */
export async function droppedFiles(items: DataTransferItemList): Promise<ChosenFile[]> {
  const found: ChosenFile[] = [];
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter((entry): entry is FileSystemEntry => entry !== null && entry !== undefined);
  const walk = async (entry: FileSystemEntry): Promise<void> => {
    if (found.length >= FILES_MAX || /(^|\/)(\.git|node_modules)$/.test(entry.fullPath)) return;
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.push({ path: entry.fullPath.replace(/^\//, ''), file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (batch.length === 0) return;
      for (const child of batch) await walk(child);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}

export const chosenFiles = (files: FileList): ChosenFile[] =>
  [...files].slice(0, FILES_MAX).map((file) => ({ path: file.webkitRelativePath || file.name, file }));

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(binary);
}

function* batches(files: ChosenFile[]): Generator<number[]> {
  let batch: number[] = [];
  let bytes = 0;
  for (const [i, { file }] of files.entries()) {
    if (batch.length > 0 && (batch.length >= BATCH_FILES || bytes + file.size > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(i);
    bytes += file.size;
  }
  if (batch.length > 0) yield batch;
}

/** Sends the files in batches. `onChange` gets the state of all of them after each step. */
export async function addFiles(files: ChosenFile[], project: string, signal: AbortSignal, onChange: (files: AddedFile[]) => void): Promise<void> {
  const states: AddedFile[] = files.map(({ path, file }) =>
    file.size > FILE_BYTES_MAX ? { path, state: 'failed', note: 'larger than 16 MB' }
    : file.size === 0 ? { path, state: 'left out', note: 'empty file' }
    : { path, state: 'waiting', note: '' });
  const publish = () => onChange(states.map((state) => ({ ...state })));
  publish();
  for (const batch of batches(files)) {
    const sent = batch.filter((i) => states[i]!.state === 'waiting');
    if (sent.length === 0) continue;
    for (const i of sent) states[i]!.state = 'sending';
    publish();
    try {
      await sendBatch(sent.map((i) => files[i]!), project, signal, (path, state, note) => {
        for (const i of sent) if (states[i]!.path === path) Object.assign(states[i]!, { state, note });
      });
    } catch (cause) {
      const note = signal.aborted ? 'cancelled' : cause instanceof ServerError ? cause.message : 'could not be read';
      for (const i of sent) if (states[i]!.state === 'sending') Object.assign(states[i]!, { state: 'failed', note });
    }
    for (const i of sent) if (states[i]!.state === 'sending') Object.assign(states[i]!, { state: 'failed', note: 'the server did not mention it' });
    if (signal.aborted) for (const state of states) if (state.state === 'waiting') Object.assign(state, { state: 'failed', note: 'cancelled' });
    publish();
    if (signal.aborted) return;
  }
}

const STATES: Record<string, FileState> = { indexed: 'indexed', unchanged: 'unchanged', kept_out: 'left out', skipped: 'left out', failed: 'failed' };

async function sendBatch(files: ChosenFile[], project: string, signal: AbortSignal, note: (path: string, state: FileState, text: string) => void) {
  const documents = await Promise.all(files.map(async ({ path, file }) => ({ source_path: path, content_base64: await base64Of(file) })));
  const response = await request('/api/kb/ingest', { method: 'POST', signal, headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ documents, ...(project && { project_key: project }) }) });
  for (const document of asList(asFields(await response.json()).documents)) {
    const chunks = asNumber(document.chunks);
    const error = typeof document.error === 'string' ? document.error : asText(asFields(document.error).message);
    const state = STATES[asText(document.status)] ?? 'failed';
    const kept = Array.isArray(document.kept_out) && document.kept_out.length > 0 ? 'passages with secrets were left out' : '';
    const done = state === 'indexed' && chunks !== null ? `${chunks} ${chunks === 1 ? 'passage' : 'passages'}` : '';
    note(asText(document.source_path), state, error || [done, asText(document.warning), kept].filter(Boolean).join(' · '));
  }
}
