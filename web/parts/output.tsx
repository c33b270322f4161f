import { useContext, useState } from 'preact/hooks';
import { cutMiddle, spellHidden, spellHiddenCode } from '../../src/render/hidden-characters.ts';
import { FoldButton, Revealed } from './fold-button.tsx';

const LINES_SHOWN = 12;
const LETTERS_SHOWN = 2_500;

/** Output of a tool: a unified diff in colours, anything else as it is. Long output is folded after its first lines. */
export function Output({ text, open = false }: { readonly text: string; readonly open?: boolean }) {
  const [unfolded, setWhole] = useState(open);
  const whole = useContext(Revealed) || unfolded;
  if (text === '') return <p class="dim">(no output)</p>;
  const lines = text.replace(/\n$/, '').split('\n');
  const folds = lines.length > LINES_SHOWN + 3 || text.length > LETTERS_SHOWN;
  const shown = folds && !whole ? lines.slice(0, LINES_SHOWN).join('\n').slice(0, LETTERS_SHOWN) : text;
  const left = lines.length - LINES_SHOWN;
  return (
    <>
      {isDiff(text) ? <Diff text={shown} /> : <pre>{shown}</pre>}
      {folds && (
        <FoldButton
          open={whole}
          onToggle={setWhole}
          more={left > 0 ? `${left} more lines` : 'Show the whole line'}
        />
      )}
    </>
  );
}

/** What a person is to judge: hidden characters are spelled out; of a long text the beginning and the end are shown until the whole is opened. */
export function Call({ text }: { readonly text: string }) {
  const [whole, setWhole] = useState(false);
  const folds = text.length > LETTERS_SHOWN;
  return (
    <>
      <pre>{spellHidden(whole ? text : cutMiddle(text, LETTERS_SHOWN))}</pre>
      {folds && <FoldButton open={whole} onToggle={setWhole} more={`Show all ${text.length} characters`} />}
    </>
  );
}

/** A unified diff, line by line, with hidden characters spelled out. Colours only repeat what the signs of the lines say. */
export function Diff({ text }: { readonly text: string }) {
  return (
    <pre class="diff">
      {text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, index) => (
          <span key={index} class={kindOf(line)}>
            {spellHiddenCode(line)}
            {'\n'}
          </span>
        ))}
    </pre>
  );
}

function kindOf(line: string): string {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return 'file';
  if (line.startsWith('@@')) return 'place';
  return line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same';
}

export function isDiff(text: string): boolean {
  return /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text);
}
