import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 5_000;

/** Shows a notice of what was done, at the edge of the page and to screen readers. */
export function say(text: string): void {
  window.dispatchEvent(new CustomEvent('coppice-notice', { detail: text }));
}

/** A polite live region that shows the newest notice for a few seconds. */
export function Notices() {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer = 0;
    const show = (event: Event) => {
      setText((event as CustomEvent<string>).detail);
      clearTimeout(timer);
      timer = window.setTimeout(() => setText(''), SHOWN_MS);
    };
    window.addEventListener('coppice-notice', show);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('coppice-notice', show);
    };
  }, []);
  return (
    <div class={text === '' ? 'notice' : 'notice shown'} role="status">
      {text}
    </div>
  );
}
