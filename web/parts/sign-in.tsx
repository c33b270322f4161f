import { useState } from 'preact/hooks';
import { signIn } from '../data/session.ts';
import { Icon } from './icon.tsx';

/** What a browser shows that is not signed in: what signs it in, and a field for the code of a link that was made elsewhere. */
export function SignIn({ trouble }: { readonly trouble: string | null }) {
  const [why, setWhy] = useState(trouble);
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const enter = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    // The whole link may be pasted.
    const failure = await signIn(text.slice(text.lastIndexOf('#') + 1).trim());
    if (failure === null) return window.location.reload();
    setBusy(false);
    setWhy(failure);
  };
  return (
    <main class="sign-in">
      <h1 class="brand">
        <Icon name="trees" /> coppice
      </h1>
      {why !== null && (
        <p role="alert" class="trouble">
          You were not signed in: {why}.
        </p>
      )}
      <p>
        This browser is not signed in. In a terminal on the machine of the server, run{' '}
        <code>coppice web</code> and open the link that it prints, or enter it here. For a phone, let{' '}
        <code>coppice web --qr</code> draw it.
      </p>
      <form onSubmit={(event) => void enter(event)}>
        <label class="field">
          Link or code
          <input
            type="text"
            autocomplete="one-time-code"
            autocapitalize="off"
            spellcheck={false}
            required
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy || text.trim() === ''}>
          Sign in
        </button>
      </form>
    </main>
  );
}
