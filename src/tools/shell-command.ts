/**
 * Reads shell commands just well enough for permission rules. It runs nothing and expands nothing; where the
 * text does not tell what would run, it says so (`opaque`), and the policy asks.
 */

/** One simple command of a compound, in words without their quotes. */
export interface CommandPiece {
  readonly words: readonly string[];
  /** The program's name comes from an expansion, a glob or standard input: it cannot be known here. */
  readonly opaque: boolean;
}

/** Words that come before the program they run, so that the program stands somewhere behind them. */
const wrappers = new Set(
  'sudo doas env command exec builtin nohup nice ionice time timeout xargs setsid stdbuf busybox chroot unshare watch parallel strace coproc function ! then do else if elif while until {'.split(
    ' ',
  ),
);
const runningOptions = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash']);
const depth_max = 8;
/** Behind a wrapper every word might be the program; so many are looked at. */
const suffixes_max = 64;

interface Word {
  text: string;
  /** Holds an expansion: its text is not what the program will see. */
  dynamic: boolean;
}

/** Splits a compound into its simple commands, those inside substitutions included. */
class CommandReader {
  readonly pieces: CommandPiece[] = [];
  /** Something could not be read to its end (an open quote, too many levels). */
  broken = false;
  readonly #text: string;
  readonly #depth: number;
  #at = 0;
  #words: Word[] = [];
  #word: Word | undefined;
  #skip_next_word = false;

  constructor(text: string, depth: number) {
    this.#text = text;
    this.#depth = depth;
  }

  read(): void {
    if (this.#depth > depth_max) {
      this.broken = true;
      return;
    }
    while (this.#at < this.#text.length) this.#step();
    this.#endPiece();
  }

  #step(): void {
    const character = this.#text[this.#at]!;
    const next = this.#text[this.#at + 1];
    if (character === '\\') {
      if (next !== undefined && next !== '\n') this.#add(next);
      this.#at += 2;
    } else if (character === "'") this.#singleQuoted();
    else if (character === '"') this.#doubleQuoted();
    else if (character === '`') this.#backticks();
    else if (character === '$') this.#dollar();
    else if (character === '#' && this.#word === undefined) this.#skipTo(this.#text.indexOf('\n', this.#at));
    else if (character === '<' || character === '>') this.#redirection();
    else if (/[;&|()\n\r]/.test(character)) {
      this.#endPiece();
      this.#at += 1;
    } else if (character === ' ' || character === '\t') {
      this.#endWord();
      this.#at += 1;
    } else {
      const braces = character === '{' && next !== undefined && !/\s/.test(next);
      this.#add(character, braces || /[*?[]/.test(character));
      this.#at += 1;
    }
  }

  #add(text: string, dynamic = false): void {
    this.#word ??= { text: '', dynamic: false };
    this.#word.text += text;
    this.#word.dynamic ||= dynamic;
  }

  #skipTo(end: number): void {
    this.#at = end === -1 ? this.#text.length : end;
  }

  #singleQuoted(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) this.broken = true;
    this.#add(this.#text.slice(this.#at + 1, end === -1 ? undefined : end));
    this.#skipTo(end === -1 ? -1 : end + 1);
  }

  #doubleQuoted(): void {
    this.#add('');
    this.#at += 1;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at]!;
      if (character === '"') {
        this.#at += 1;
        return;
      }
      if (character === '`') this.#backticks();
      else if (character === '$') this.#dollar();
      else if (character === '\\') {
        const next = this.#text[this.#at + 1] ?? '';
        if (next !== '\n') this.#add(/[$`"\\]/.test(next) ? next : `\\${next}`);
        this.#at += 2;
      } else {
        this.#add(character);
        this.#at += 1;
      }
    }
    this.broken = true;
  }

  #backticks(): void {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '`') end += this.#text[end] === '\\' ? 2 : 1;
    if (end >= this.#text.length) this.broken = true;
    this.#nested(this.#text.slice(this.#at + 1, end).replace(/\\([\\`$])/g, '$1'));
    this.#skipTo(end + 1);
  }

  #dollar(): void {
    const next = this.#text[this.#at + 1] ?? '';
    if (next === '(' || next === '{') {
      const end = this.#closing(this.#at + 1, next, next === '(' ? ')' : '}');
      // Of ${…} only what is substituted inside it can run; reading all of it as commands finds that too.
      this.#nested(this.#text.slice(this.#at + 2, end));
      this.#skipTo(end + 1);
    } else if (next === "'") {
      // $'…': escapes stand for other characters, so the text says nothing reliable.
      let end = this.#at + 2;
      while (end < this.#text.length && this.#text[end] !== "'") end += this.#text[end] === '\\' ? 2 : 1;
      this.#add(this.#text.slice(this.#at + 2, end), true);
      this.#skipTo(end + 1);
    } else {
      this.#add('$', true);
      this.#at += 1;
    }
  }

  /** The place of the bracket that closes the one at `start`, quotes skipped; the end of the text if none does. */
  #closing(start: number, open: string, close: string): number {
    let level = 0;
    for (let at = start; at < this.#text.length; at += 1) {
      const character = this.#text[at]!;
      if (character === '\\') at += 1;
      else if (character === "'") {
        const end = this.#text.indexOf("'", at + 1);
        if (end !== -1) at = end;
      } else if (character === open) level += 1;
      else if (character === close) {
        level -= 1;
        if (level === 0) return at;
      }
    }
    this.broken = true;
    return this.#text.length;
  }

  #nested(text: string): void {
    const inner = new CommandReader(text, this.#depth + 1);
    inner.read();
    this.pieces.push(...inner.pieces);
    this.broken ||= inner.broken;
    this.#add('$', true);
  }

  #redirection(): void {
    // The number in front of it names a descriptor and is no argument.
    if (this.#word !== undefined && /^\d+$/.test(this.#word.text)) this.#word = undefined;
    this.#endWord();
    if (this.#text[this.#at + 1] === '(') {
      const end = this.#closing(this.#at + 1, '(', ')');
      this.#nested(this.#text.slice(this.#at + 2, end));
      this.#skipTo(end + 1);
      return;
    }
    while (/[<>&|]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    this.#skip_next_word = true;
  }

  #endWord(): void {
    if (this.#word === undefined) return;
    if (this.#skip_next_word) this.#skip_next_word = false;
    else this.#words.push(this.#word);
    this.#word = undefined;
  }

  #endPiece(): void {
    this.#endWord();
    this.#skip_next_word = false;
    if (this.#words.length > 0) this.#take(this.#words);
    this.#words = [];
  }

  /** The command itself, and every command that may stand behind a wrapper or `-exec` in it. */
  #take(words: readonly Word[]): void {
    let wrapped = false;
    let first = true;
    let taken = 0;
    for (const [at, word] of words.entries()) {
      if (first && /^[A-Za-z_]\w*\+?=/.test(word.text)) continue;
      const follows = wrapped && !word.text.startsWith('-');
      if (first || follows || runningOptions.has(words[at - 1]?.text ?? '')) {
        wrapped = this.#takeOne(words.slice(at)) || wrapped;
        taken += 1;
      }
      first = false;
      if (taken === suffixes_max) {
        this.broken = true;
        return;
      }
    }
  }

  /** Adds one command; true when its program is a wrapper. */
  #takeOne(words: readonly Word[]): boolean {
    const [program, ...rest] = words;
    const name = program!.text.slice(program!.text.lastIndexOf('/') + 1);
    const runs_text = name === 'eval' || name === 'trap' || name === 'source' || name === '.';
    const script = shells.has(name) ? scriptOf(rest) : undefined;
    const reads_input =
      shells.has(name) && script === undefined && rest.every((word) => word.text.startsWith('-'));
    const hidden = script?.dynamic === true || (runs_text && rest.some((word) => word.dynamic));
    this.pieces.push({
      words: [name, ...rest.map((word) => word.text)],
      opaque: program!.dynamic || hidden || reads_input,
    });
    if (script !== undefined) this.#nestedScript(script.text);
    if (name === 'eval') this.#nestedScript(rest.map((word) => word.text).join(' '));
    if (name === 'trap') this.#nestedScript(rest[0]?.text ?? '');
    return wrappers.has(name);
  }

  #nestedScript(text: string): void {
    const inner = new CommandReader(text, this.#depth + 1);
    inner.read();
    this.pieces.push(...inner.pieces);
    this.broken ||= inner.broken;
  }
}

/** The word behind `-c` (or `-lc`, `-ec` …) of a shell. */
function scriptOf(words: readonly Word[]): Word | undefined {
  const at = words.findIndex((word) => /^-[a-z]*c[a-z]*$/.test(word.text));
  return at === -1 ? undefined : words[at + 1];
}

/**
 * The simple commands that a text would run as far as it can be told: those behind operators, in substitutions, in
 * `bash -c`, behind wrappers such as `sudo` and `xargs`. `unclear`: some of it could not be read.
 */
export function commandPieces(command: string): {
  readonly pieces: readonly CommandPiece[];
  readonly unclear: boolean;
} {
  const reader = new CommandReader(command, 0);
  reader.read();
  return { pieces: reader.pieces, unclear: reader.broken || reader.pieces.some((piece) => piece.opaque) };
}
