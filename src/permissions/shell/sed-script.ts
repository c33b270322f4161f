import { hidden, type ReadArguments } from './inner-command.ts';
import { ANY, isKnown } from './shell-word.ts';

/** sed commands without arguments that run nothing. */
const plain = /^[pPdDgGhHlnNqQx=}{]\d*$/;

/**
 * Reads `sed`, which runs commands by `e` and by the flag `e` of `s`. Scripts of addresses, `s`, `y` and plain commands are
 * analysed; anything else is opaque.
 */
export const readSed: ReadArguments = (words) => {
  const scripts: string[] = [];
  const others: string[] = [];
  let at = 1;
  for (; at < words.length; at += 1) {
    const word = words[at]!;
    if (!isKnown(word.slice(0, 1))) return hidden('the arguments of sed');
    if (word === '--expression' || /^-[nErsuz]*e$/.test(word)) {
      at += 1;
      scripts.push(words[at] ?? ANY);
    } else if (word.startsWith('--expression=')) scripts.push(word.slice(13));
    else if (/^-[nErsuz]*e./.test(word)) scripts.push(word.slice(word.indexOf('e') + 1));
    else if (/^-(?:[nErsuz]*i.*|[nErsuz]+)$/.test(word)) continue;
    else if (
      /^--(?:quiet|silent|regexp-extended|in-place(?:=.*)?|null-data|separate|unbuffered|debug|sandbox|posix|version|help)$/.test(
        word,
      )
    )
      continue;
    else if (word.startsWith('-') && word !== '-') return hidden('an option of sed');
    else others.push(word);
  }
  if (scripts.length === 0 && others[0] !== undefined) scripts.push(others[0]);
  return scripts.every((script) => isKnown(script) && runsNothing(script))
    ? []
    : hidden('a sed script that may run commands');
};

function runsNothing(script: string): boolean {
  for (let rest = afterSpace(script); rest !== ''; rest = afterSpace(rest)) {
    const address =
      /^(?:(?:\d+(?:~\d+)?|\$|\/(?:[^/\\\n]|\\.)*\/I?)(?:,(?:[+~]?\d+|\$|\/(?:[^/\\\n]|\\.)*\/I?))?\s*!?\s*)/.exec(
        rest,
      );
    rest = rest.slice(address?.[0].length ?? 0);
    const length = commandLength(rest);
    if (length === 0) return rest === '';
    rest = rest.slice(length);
  }
  return true;
}

function afterSpace(text: string): string {
  return text.replace(/^[\s;{}]+/, '');
}

/** The length of the leading command; 0 if it may run something. */
function commandLength(text: string): number {
  if (text[0] !== 's' && text[0] !== 'y') {
    const command = text.split(/[;\n}]/, 1)[0]!;
    return plain.test(command.trim()) ? command.length : /^[{}]/.test(text) ? 1 : 0;
  }
  const mark = text[1];
  let marks = 1;
  let at = 2;
  for (; at < text.length && marks < 3; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === mark) marks += 1;
  }
  if (marks < 3) return 0;
  const flags = /^[gpiIM0-9]*/.exec(text.slice(at))![0].length;
  return /^\s*(?:[;\n}]|$)/.test(text.slice(at + flags)) ? at + flags : 0;
}
