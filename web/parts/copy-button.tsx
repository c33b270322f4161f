import { useState } from 'preact/hooks';

const TOLD_MS = 2_000;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, in a word. */
  readonly what: string;
}

/** Whether the text was copied: a page without TLS on another machine may not write to the clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copies a text, and says whether that worked. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const [told, setTold] = useState('');
  const copy = async () => {
    setTold((await copyText(text)) ? 'Copied' : 'Not allowed here');
    setTimeout(() => setTold(''), TOLD_MS);
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      <span role="status">{told === '' ? 'Copy' : told}</span>
    </button>
  );
}
