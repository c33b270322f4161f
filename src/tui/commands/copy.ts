import { Lexer, type Token, walkTokens } from 'marked';
import { assistantText } from '../../records/conversation/child-text.ts';
import { excerpt } from '../../records/text/text.ts';
import { count } from '../../render/amounts.ts';
import { cleanLines } from '../../render/clean.ts';
import type { AppContext } from '../app-context.ts';

/** Bytes above which common terminals drop what they are told to copy (100,000 characters of base64). */
const SAFE_BYTES = 75_000;

/** `/copy`: hands the last answer of the agent in view, its code block number N, or the output of the last command to the clipboard of the terminal. */
export async function copy(app: AppContext, part: number | 'answer' | 'output', view: string): Promise<void> {
  const { what, text: written } = await wanted(app, part, view);
  // A text that is pasted into a shell must not act on the terminal.
  const text = cleanLines(written).replace(/\n+$/, '');
  if (text === '') return app.say(what, 'bad');
  if (!app.screen.copy(text))
    return app.say(
      'this terminal only prints lines, and takes nothing to copy: /export writes a file',
      'bad',
    );
  const lines = text.split('\n').length;
  const size = `${lines} line${lines === 1 ? '' : 's'}, ${count(text.length)} characters`;
  const long = Buffer.byteLength(text) > SAFE_BYTES ? ' Many take no text this long.' : '';
  // No terminal answers: whether it took the text cannot be known.
  app.say(
    `sent to the clipboard: ${what}, ${size}.${long}\nIf it does not arrive, the terminal refuses this (OSC 52; in tmux: set -g set-clipboard on): /export writes a file.`,
  );
}

/** What was meant and its text; an empty text: `what` says why there is none. */
async function wanted(
  { store, own_commands }: AppContext,
  part: number | 'answer' | 'output',
  view: string,
): Promise<{ readonly what: string; readonly text: string }> {
  const history = await store.history(view);
  if (part === 'output') {
    const own = own_commands.last;
    const ran = history.findLast(({ kind, content }) => kind === 'result' && content.name === 'bash');
    const is_own = own !== null && own.at >= (ran?.at ?? 0);
    const output = is_own ? own.output : ran?.kind === 'result' ? ran.content.output : '';
    const whose = is_own
      ? `the output of your command ${excerpt(own.command)}`
      : 'the output of the last command';
    return output.trim() === ''
      ? { what: 'no command has printed anything yet', text: '' }
      : { what: whose, text: output };
  }
  const answers = history.flatMap(({ kind, content }) =>
    kind === 'assistant' ? [assistantText(content)] : [],
  );
  const answer = answers.findLast((text) => text.trim() !== '') ?? '';
  if (part === 'answer')
    return { what: answer === '' ? 'there is no answer yet' : 'the last answer', text: answer };
  const blocks = codeBlocks(answer);
  const block = blocks[part - 1];
  const found =
    blocks.length === 0 ? 'no code block' : `${blocks.length} code block${blocks.length === 1 ? '' : 's'}`;
  return block === undefined
    ? { what: `the last answer has ${found}`, text: '' }
    : { what: `code block ${part} of ${blocks.length}`, text: block };
}

/** The code of a Markdown text's blocks, also of those in lists and quotations. */
function codeBlocks(text: string): readonly string[] {
  const found: string[] = [];
  walkTokens(Lexer.lex(text), (token: Token) => {
    if (token.type === 'code' && token.text.trim() !== '') found.push(token.text);
  });
  return found;
}
