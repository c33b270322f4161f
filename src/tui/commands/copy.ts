import { Lexer, type Token, walkTokens } from 'marked';
import { assistantText } from '../../records/conversation/child-text.ts';
import { counted, excerpt } from '../../records/text/text.ts';
import { count } from '../../render/amounts.ts';
import { cleanLines } from '../../render/clean.ts';
import type { AppContext } from '../app-context.ts';
import type { ArgumentsOf } from './command-table.ts';

/** Bytes above which common terminals drop what they are told to copy (100,000 characters of base64). */
const SAFE_BYTES = 75_000;
const NOTHING_PRINTED = 'no command has printed anything yet';

type Part = ArgumentsOf<'copy'>;

/** `/copy`: hands the last answer of the agent in view, one of its code blocks, or the output of a command to the clipboard of the terminal. */
export async function copy(app: AppContext, part: Part, view: string): Promise<void> {
  const { what, text: written } = await wanted(app, part, view);
  // A text that is pasted into a shell must not act on the terminal.
  const text = cleanLines(written).replace(/\n+$/, '');
  if (text === '') return app.say(what, 'bad');
  const taken = app.screen.copy(text);
  if (taken === 'never')
    return app.say('this terminal takes nothing to copy (OSC 52): /export writes a file', 'bad');
  const lines = text.split('\n').length;
  const size = `${counted(lines, 'line')}, ${count(text.length)} characters`;
  const long = Buffer.byteLength(text) > SAFE_BYTES ? ' Many terminals take no text this long.' : '';
  // No terminal answers: whether it took the text cannot be known.
  const doubt =
    taken === 'known'
      ? ''
      : '\nIf it does not arrive, the terminal refuses this (OSC 52; in tmux: set -g set-clipboard on): /export writes a file.';
  app.say(`sent to the clipboard: ${what}, ${size}.${long}${doubt}`);
}

/** What was meant and its text; an empty text: `what` says why there is none. */
async function wanted(
  { store, own_commands: { last: own } }: AppContext,
  { what, number }: Part,
  view: string,
): Promise<{ readonly what: string; readonly text: string }> {
  const history = await store.history(view);
  if (what === 'output') {
    const ran = history.flatMap(({ kind, content, at }) =>
      kind === 'result' && content.name === 'bash' && content.output.trim() !== ''
        ? [{ output: content.output, at, whose: null }]
        : [],
    );
    const mine =
      own === null || own.output.trim() === ''
        ? []
        : [{ output: own.output, at: own.at, whose: `your command ${excerpt(own.command)}` }];
    const all = [...ran, ...mine].sort((a, b) => b.at - a.at);
    const found = all[number - 1];
    if (found === undefined)
      return {
        what: all.length === 0 ? NOTHING_PRINTED : `only ${all.length} commands have printed anything`,
        text: '',
      };
    const by_agent = number === 1 ? 'the last command' : `command ${number}, counted from the last`;
    return { what: `the output of ${found.whose ?? by_agent}`, text: found.output };
  }
  const answers = history.flatMap(({ kind, content }) =>
    kind === 'assistant' ? [assistantText(content)] : [],
  );
  const answer = answers.findLast((text) => text.trim() !== '') ?? '';
  if (what === 'answer')
    return { what: answer === '' ? 'there is no answer yet' : 'the last answer', text: answer };
  const blocks = codeBlocks(answer);
  const block = blocks[number - 1];
  const found = blocks.length === 0 ? 'no code block' : counted(blocks.length, 'code block');
  return block === undefined
    ? { what: `the last answer has ${found}`, text: '' }
    : { what: `code block ${number} of ${blocks.length}`, text: block };
}

/** The code of a Markdown text's blocks, also of those in lists and quotations. */
function codeBlocks(text: string): readonly string[] {
  const found: string[] = [];
  walkTokens(Lexer.lex(text), (token: Token) => {
    if (token.type === 'code' && token.text.trim() !== '') found.push(token.text);
  });
  return found;
}
