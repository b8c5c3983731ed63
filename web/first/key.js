// The API key: requested when the server needs one, and kept for this tab only.

import { byId } from './dom.js';

const STORED = 'footnote-key';

let asking = null; // the open key dialog, shared by all waiting requests

export const keyHeaders = () => {
  const key = sessionStorage.getItem(STORED);
  return key ? { authorization: `Bearer ${key}` } : {};
};

/** Asks for a key; false if the user cancels. `refused` is the header with the rejected key. */
export function askForKey(refused) {
  if (refused !== keyHeaders().authorization) return Promise.resolve(true); // another key has been entered since
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
