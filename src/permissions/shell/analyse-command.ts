import { createRequire } from 'node:module';
import type { Command, ParsedScript, SyntaxNode, Word } from 'unbash';
import type { InnerCommand } from './inner-command.ts';
import { readProgram } from './program.ts';
import { assignmentText, isKnown, maySplit, wordText } from './shell-word.ts';
import { assigned, named } from './variable.ts';

/**
 * The simple commands that a shell text would run, for permission rules. Nothing is run or expanded.
 *
 * S1. Complete: every command that the text would run is in `commands`, or `hidden` says why not.
 * S2. Words are as the program receives them, without quotes; `ANY` and `MANY` stand for text known only at run time.
 * S3. Files are not opened: a program is judged by its name, regardless of its content.
 * S4. Time is bounded: the analysis of a text that is too long or nested too deeply stops early.
 */
export interface CommandAnalysis {
  readonly commands: readonly (readonly string[])[];
  /** Why some commands cannot be determined, in a few words; null if all can. */
  readonly hidden: string | null;
  /** Why the analysis stopped before the end of the text; null if it did not. */
  readonly unread: string | null;
  /** Whether the text is a single command, without operators, redirections, assignments, substitutions or comments. */
  readonly plain: boolean;
  /** Files that redirections open. */
  readonly opened: readonly { readonly path: string; readonly writes: boolean }[];
  /** All words and here-documents in the text, also those that only become arguments when it runs. */
  readonly words: readonly string[];
}

/** Maximum characters, and maximum product of characters and places where the parser restarts, which bounds parsing time. */
export const readable_characters = 32 * 1024;
const work_max = 8_000_000;
const commands_max = 2_000;
const depth_max = 12;

type Unbash = typeof import('unbash');
let unbash: Unbash | undefined;

/** Loads the parser lazily. */
function parser(): Unbash {
  unbash ??= createRequire(import.meta.url)('unbash') as Unbash;
  return unbash;
}

/** Analyses a shell text. `posix`: the shell may be another than bash. Pure and total. */
export function analyseCommand(text: string, posix = false): CommandAnalysis {
  const view = new View();
  let plain = false;
  try {
    plain = view.read(text, posix);
  } catch (error) {
    // A RangeError is a stack overflow from deep nesting.
    view.stop(error instanceof RangeError ? 'it is nested too deeply' : 'it cannot be read');
  }
  const hidden =
    view.hidden ??
    (view.evaluates && view.suspicious ? 'arithmetic with text that contains a substitution' : null);
  const { commands, opened, unread, words } = view;
  return { commands, hidden, unread, plain: plain && commands.length > 0, opened, words };
}

/** Text that runs a command if it is evaluated again, including escaped forms. */
const substitution = /`|\$\\*[({[]|\\0*44|\\x24|\\[uU]0*24|\\0*140|\\x60|\\[uU]0*60/;
/** An unescaped substitution in raw text that the parser took for a literal. */
const overlooked = /(?:^|[^\\])(?:\\\\)*(?:`|\$[({[])/;

class View {
  readonly commands: (readonly string[])[] = [];
  readonly opened: { path: string; writes: boolean }[] = [];
  readonly words: string[] = [];
  hidden: string | null = null;
  unread: string | null = null;
  evaluates = false;
  suspicious = false;
  #posix = false;
  #depth = 0;

  hide(what: string): void {
    this.hidden ??= what;
  }

  /** Ends the analysis; the rest of the text is not read. */
  stop(why: string): void {
    this.unread ??= why;
    this.hide(why);
  }

  /** Reads a text. Returns whether it is a single plain command. */
  read(text: string, posix: boolean): boolean {
    if (text.length > readable_characters) this.stop(`it is longer than ${readable_characters} characters`);
    // Bash joins continued lines before it splits words: `$\⏎x` is a variable.
    if (/[^ \t\n]\\\n[^ \t\n]/.test(text)) this.stop('a word continued on the next line');
    if (/(?<!\\)(?:\\\\)*\\$/.test(text)) this.stop('a backslash at its end');
    if (/\{[\r\v\f]/.test(text)) this.stop('a control character in braces');
    if (text.includes('\0')) this.stop('it contains NUL characters');
    const restarts = text.match(/[`({[]|<</g)?.length ?? 0;
    if (restarts * text.length > work_max) this.stop('it is too complex');
    if (this.unread !== null) return false;
    const before_posix = this.#posix;
    this.#posix ||= posix;
    const script = parser().parse(text);
    this.#visit(script, text);
    this.#posix = before_posix;
    return isPlain(script, text);
  }

  #visit(node: SyntaxNode, source: string): void {
    if (this.unread !== null) return;
    if (this.#posix) this.#visitPosix(node);
    switch (node.type) {
      case 'Script':
        if ((node.errors?.length ?? 0) > 0) return this.stop('it is incomplete');
        break;
      case 'Command':
        this.#command(node);
        break;
      case 'Word':
        this.words.push(wordText(node));
        if (node.text.includes('$"')) this.words.push(node.text.replaceAll(/[$"]/g, ''));
        // Bash takes `0<(rm x)` for a number and a substitution, not for a redirection.
        for (const { type, text } of node.parts ?? [node])
          if (/^(?:Word|Literal)$/.test(type) && /[<>]\(/.test(text))
            return this.stop('a substitution in it');
        this.#literal(wordText(node), node.parts === undefined ? node.text : '');
        break;
      case 'Literal':
        this.#literal(node.value, node.text);
        break;
      case 'AnsiCQuoted':
        // Bash joins no lines in these quotes, and knows one more escape.
        if (/\\(?:\n|x\{)/.test(node.text)) return this.stop('an escape in quotes');
        this.#literal(node.value, '');
        break;
      case 'SingleQuoted':
        this.#literal(node.value, '');
        break;
      case 'HereDocBody':
        this.words.push(node.text);
        this.#literal(node.parts === undefined ? node.text : '', '');
        break;
      case 'HereDoc':
        if (node.closing === undefined) return this.stop('it is incomplete');
        if (node.delimiter?.quoted === false && node.body.parts === undefined)
          this.#literal('', node.body.text);
        break;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        // Within backquotes, bash removes backslashes before it joins lines.
        if (node.script === undefined || (node.text.startsWith('`') && node.text.includes('\\\n')))
          return this.stop('a substitution in it');
        break;
      case 'ArithmeticExpansion':
      case 'ArithmeticCommand':
      case 'ArithmeticFor':
      case 'Slice':
        this.evaluates = true;
        break;
      case 'TestUnary':
        if (node.operator === '-v' || node.operator === '-R') this.evaluates = true;
        break;
      case 'TestBinary':
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) this.evaluates = true;
        break;
      case 'ParameterExpansion':
        // The effect of these quotes depends on the context.
        if (node.text.includes("'") && substitution.test(node.text))
          return this.stop('a quoted substitution');
        if (node.index !== undefined || node.prefix === '!') this.evaluates = true;
        if (node.prefix === '!' && node.operation !== undefined && node.operation.type !== 'Names')
          return this.hide('a variable by another name');
        if (node.operation?.type === 'Transform' && !/^[QEAaKkULu]$/.test(wordText(node.operation.operand)))
          return this.hide('a variable that is expanded twice');
        if (node.operation?.type === 'Unknown') return this.hide('an expansion');
        if (node.operation?.type === 'Default' && node.operation.operator.endsWith('='))
          this.#inner(assigned(node.parameter, wordText(node.operation.operand)));
        break;
      case 'ExtendedGlob':
        return this.hide('a pattern that only some shells know');
      case 'ArrayValue':
        if (node.elements.some((element) => element.type === 'Word' && element.text.startsWith('[')))
          this.evaluates = true;
        break;
      case 'Assignment':
        if (node.index !== undefined) this.evaluates = true;
        if (node.name === 'GLOBIGNORE') this.words.push('dotglob');
        // With something right behind it, an array is taken for text.
        if (node.value.type === 'Word' && node.value.text.startsWith('(')) return this.stop('an array');
        this.#inner(assigned(node.name, assignmentText(node).slice(assignmentText(node).indexOf('=') + 1)));
        break;
      case 'For':
      case 'Select':
        this.#inner(named(wordText(node.name)));
        break;
      case 'Redirect':
        if (node.target !== undefined) this.#redirect(node.operator, wordText(node.target), node.target.text);
        if (node.descriptor?.type === 'FileDescriptorVariable') this.#inner(named(node.descriptor.name));
        break;
    }
    parser().forEachChild(node, (child) => this.#visit(child, source));
  }

  /** Hides syntax that other shells parse differently from bash. */
  #visitPosix(node: SyntaxNode): void {
    const otherwise =
      /^(?:AnsiCQuoted|LocaleString|TestCommand|ArithmeticCommand|ArithmeticFor|HereString|ProcessSubstitution|FileDescriptorVariable|Coproc|Select|ArrayValue|ExtendedGlob|BraceExpansion)$/.test(
        node.type,
      ) ||
      (node.type === 'Redirect' && node.operator.startsWith('&>')) ||
      (node.type === 'Pipeline' && node.operators.includes('|&')) ||
      (node.type === 'ArithmeticExpansion' && node.text.startsWith('$['));
    if (otherwise) this.hide('its shell may read it differently from bash');
  }

  #literal(value: string, raw: string): void {
    if (substitution.test(value)) this.suspicious = true;
    if (raw !== '' && overlooked.test(raw)) this.stop('a substitution in it');
  }

  #redirect(operator: string, path: string, raw: string): void {
    if (/^[<>]&$/.test(operator)) {
      // Bash ends the redirection at the `-`: `>&-a` is `>&- a`.
      if (/^-./s.test(raw)) return this.stop('a redirection');
      if (/^\d*-?$/.test(path)) return;
      // Bash expands this name twice.
      if (!isKnown(path) || substitution.test(path) || /[<>]\(/.test(path))
        return this.hide('a file name that is expanded twice');
    }
    if (operator.startsWith('<')) this.opened.push({ path, writes: false });
    if (operator !== '<' && operator !== '<&') this.opened.push({ path, writes: true });
  }

  #command({ name, args }: Command): void {
    if (name === undefined) return;
    this.#take([
      wordText(name),
      ...args.map((arg) => (arg.type === 'Word' ? wordText(arg) : assignmentText(arg))),
    ]);
  }

  #take(words: readonly string[]): void {
    if (this.commands.length === commands_max) return this.stop('it has too many commands');
    const program = programName(words[0]);
    if (program === undefined) return this.hide('a program with a computed name');
    this.commands.push(words);
    for (const inner of readProgram([program, ...words.slice(1)])) this.#inner(inner);
  }

  #inner(inner: InnerCommand | null): void {
    if (inner === null || this.unread !== null) return;
    if ('hidden' in inner) return this.hide(inner.hidden);
    if ('evaluates' in inner) {
      this.evaluates = true;
      return;
    }
    this.#depth += 1;
    if (this.#depth > depth_max) return this.stop('it is nested too deeply');
    if ('words' in inner) this.#take(inner.words);
    else this.read(inner.text, inner.posix ?? false);
    this.#depth -= 1;
  }
}

/** The name without its folder, `rm` for `/bin/rm`; undefined when unknown. */
function programName(word: string | undefined): string | undefined {
  if (word === undefined || word === '' || maySplit(word)) return undefined;
  // Such a path is an alias of an open file or a running program.
  if (/^\/+(?:proc|dev)\//.test(word)) return undefined;
  const name = word.slice(word.lastIndexOf('/') + 1);
  return isKnown(name) ? name : undefined;
}

function isPlain(script: ParsedScript, text: string): boolean {
  const [statement, ...others] = script.commands;
  const command = statement?.command;
  if (command?.type !== 'Command' || others.length > 0 || statement!.background === true) return false;
  if (command.prefix.length > 0 || command.redirects.length > 0 || command.name === undefined) return false;
  const words = [command.name, ...command.args];
  return text.length === command.end && words.every((word) => word.type === 'Word' && isPlainWord(word));
}

/** Whether a word consists of literal text, quoted or not, plain variables and globs. */
function isPlainWord({ parts }: Word): boolean {
  return (parts ?? []).every(
    (part) =>
      /^(?:Literal|SingleQuoted|SimpleExpansion|Glob)$/.test(part.type) ||
      (part.type === 'DoubleQuoted' &&
        part.parts.every(({ type }) => type === 'Literal' || type === 'SimpleExpansion')),
  );
}
