/** A word of a command line, where it begins, and the blanks before it, so that a message can be taken as it was written. */
export interface SlashWord {
  readonly text: string;
  readonly start: number;
  readonly blanks: string;
}

export type SlashWords =
  | { readonly ok: true; readonly words: readonly SlashWord[] }
  | { readonly ok: false; readonly error: string };

/**
 * Splits a command into words by the quoting rules of a shell: blanks and line ends separate, single quotes keep everything, double
 * quotes keep everything but `\"`, `\\`, `\$` and `` \` ``, a backslash keeps the next character and takes away a line end. Nothing is
 * expanded, and no other white space separates.
 */
export function slashWords(line: string): SlashWords {
  const words: SlashWord[] = [];
  let word: SlashWord | null = null;
  let blanks = '';
  let at = 0;
  const add = (text: string, start: number): void => {
    word = word === null ? { text, start, blanks } : { ...word, text: word.text + text };
    blanks = '';
  };
  while (at < line.length) {
    const char = line[at] as string;
    const start = at;
    at += 1;
    if (' \t\r\n'.includes(char)) {
      if (word !== null) words.push(word);
      word = null;
      blanks += char;
    } else if (char === "'") {
      const end = line.indexOf("'", at);
      if (end < 0) return { ok: false, error: `the single quote at character ${start + 1} is not closed` };
      add(line.slice(at, end), start);
      at = end + 1;
    } else if (char === '"') {
      const quoted = doubleQuoted(line, at);
      if (quoted === null)
        return { ok: false, error: `the double quote at character ${start + 1} is not closed` };
      add(quoted.text, start);
      at = quoted.end;
    } else if (char === '\\' && at < line.length) {
      const next = String.fromCodePoint(line.codePointAt(at) as number);
      at += next.length;
      if (next !== '\n') add(next, start);
    } else add(char, start);
  }
  if (word !== null) words.push(word);
  return { ok: true, words };
}

/** Words as one text, with the blanks and line ends that stood between them. */
export function joinWords(words: readonly SlashWord[]): string {
  return words.map(({ text, blanks }, index) => (index === 0 ? text : blanks + text)).join('');
}

function doubleQuoted(line: string, from: number): { readonly text: string; readonly end: number } | null {
  let text = '';
  for (let at = from; at < line.length; at += 1) {
    const char = line[at] as string;
    if (char === '"') return { text, end: at + 1 };
    const next = line[at + 1] ?? '';
    if (char === '\\' && next === '\n') at += 1;
    else if (char === '\\' && '"\\$`'.includes(next) && next !== '') {
      text += next;
      at += 1;
    } else text += char;
  }
  return null;
}
