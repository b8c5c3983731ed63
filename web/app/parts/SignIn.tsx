// Asks for an API key and exchanges it for a session. The key is not kept in the page.

import { useState } from 'react';
import { openSession } from '../lib/api';
import { Dialog } from './controls';

export function SignIn({ onEnd }: { onEnd: (signedIn: boolean) => void }) {
  const [key, setKey] = useState('');
  const [trouble, setTrouble] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    if (key.trim() === '' || busy) return;
    setBusy(true);
    const refused = await openSession(key.trim()).catch(() => 'The server could not be reached.');
    setBusy(false);
    setKey('');
    if (refused) setTrouble(refused);
    else onEnd(true);
  };
  return (
    <Dialog label="Sign in" title="Sign in" onClose={() => onEnd(false)}>
      <form className="fields one" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
        <p id="key-note" role={trouble ? 'alert' : undefined}>{trouble || 'This server needs an API key. It starts with fn_live_ and is exchanged for a session of this browser.'}</p>
        <label>API key<input type="password" value={key} autoComplete="off" spellCheck={false} autoFocus aria-describedby="key-note" onChange={(event) => setKey(event.target.value)} /></label>
        <div className="buttons">
          <button type="button" className="button" onClick={() => onEnd(false)}>Not now</button>
          <button type="submit" className="button button-primary" disabled={busy}>Sign in</button>
        </div>
      </form>
    </Dialog>
  );
}
