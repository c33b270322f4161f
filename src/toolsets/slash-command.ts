/** Words of a command line, and where the third one begins, so that a message can be taken as it was written. */
export type SlashWords =
  | { readonly ok: true; readonly words: readonly string[]; readonly starts: readonly number[] }
  | { readonly ok: false; readonly error: string };

/**
 * Splits a command into words by the quoting rules of a shell: blanks separate, single quotes keep everything, double quotes keep
 * everything but `\"`, `\\`, `\$` and `` \` ``, a backslash keeps the next character. Nothing is expanded.
 */
export function slashWords(line: string): SlashWords {
  const words: string[] = [];
  const starts: number[] = [];
  let word: string | null = null;
  let at = 0;
  const add = (text: string, start: number): void => {
    if (word === null) starts.push(start);
    word = (word ?? '') + text;
  };
  while (at < line.length) {
    const char = line[at] as string;
    const start = at;
    at += 1;
    if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
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
    } else if (char === '\\') {
      const next = String.fromCodePoint(line.codePointAt(at) ?? 92);
      add(line.length > at ? (next === '\n' ? '' : next) : '\\', start);
      at += line.length > at ? next.length : 0;
    } else add(char, start);
  }
  if (word !== null) words.push(word);
  return { ok: true, words, starts };
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
