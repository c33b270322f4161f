import { useMemo } from 'preact/hooks';
import { useTexts } from '../data/texts.ts';
import { CopyButton } from './copy-button.tsx';
import { useFold } from './fold-button.tsx';

const LINES_SHOWN = 40;

interface CodeBlockProps {
  readonly code: string;
  readonly language: string | undefined;
}

/** A block of code in its colours. A long block is folded. */
export function CodeBlock({ code, language }: CodeBlockProps) {
  const lines = code.split('\n');
  const { until, button } = useFold(lines.length, LINES_SHOWN);
  const shown = lines.slice(0, until).join('\n');
  const texts = useTexts();
  const spans = useMemo(
    () => texts?.codeSpans(shown, language?.toLowerCase()) ?? null,
    [texts, shown, language],
  );
  return (
    <figure class="code" aria-label={language === undefined || language === '' ? 'code' : `${language} code`}>
      <figcaption>
        <span class="dim">{language}</span>
        <CopyButton text={code} what="code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that is wider than the page is scrolled with the keyboard */}
      <pre tabIndex={0}>
        {spans === null
          ? shown
          : spans.map(([text, colour], at) =>
              colour === null ? (
                text
              ) : (
                <span key={at} class={`code-${colour}`}>
                  {text}
                </span>
              ),
            )}
      </pre>
      {button}
    </figure>
  );
}
