// The API key of a server that wants one: asked for when it does, kept for this tab alone.

import { byId } from './dom.js';

const STORED = 'footnote-key';

let asking = null; // the question that is open, for all who wait for it

export const keyHeaders = () => {
  const key = sessionStorage.getItem(STORED);
  return key ? { authorization: `Bearer ${key}` } : {};
};

/** Asks for a key; false when the person would rather not. `refused` is the header of the key that was not taken. */
export function askForKey(refused) {
  if (refused !== keyHeaders().authorization) return Promise.resolve(true); // another one has come since
  asking ??= openDialog(refused !== undefined).finally(() => (asking = null));
  return asking;
}

function openDialog(wasRefused) {
  const dialog = byId('key-dialog');
  const field = byId('key-field');
  byId('key-note').textContent = wasRefused
    ? 'That key was not accepted: it is wrong, has expired or was revoked.'
    : 'It starts with fn_live_ and stays in this tab.';
  field.value = '';
  return new Promise((resolve) => {
    const finish = (key) => {
      if (key) sessionStorage.setItem(STORED, key);
      else sessionStorage.removeItem(STORED);
      dialog.close();
      resolve(Boolean(key));
    };
    byId('key-form').onsubmit = (event) => {
      event.preventDefault();
      if (field.value.trim()) finish(field.value.trim());
    };
    byId('key-cancel').onclick = () => finish('');
    dialog.oncancel = (event) => {
      event.preventDefault();
      finish('');
    };
    dialog.showModal();
    field.focus();
  });
}
