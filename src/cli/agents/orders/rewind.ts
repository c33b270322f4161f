import { rewoundLines } from '../../../documents/rewound-lines.ts';
import type { DocumentOf } from '../../../documents/shapes/all-documents.ts';
import type { Message } from '../../../records/conversation/message.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { cutText } from '../../../records/text/cut-text.ts';
import { duration } from '../../../render/amounts.ts';
import { clean } from '../../../render/clean.ts';
import { tableLines } from '../../../render/table.ts';
import type { Calls } from '../../../serve/client/client.ts';
import { saidAt } from '../../../trees/rewind/cut-point.ts';
import { ask } from '../../setup/ask-server.ts';
import type { Context } from '../../setup/context.ts';
import { printLines, printResult } from '../../setup/output.ts';
import { confirm, readText } from '../../setup/standard-input.ts';
import { findAgent, findRoot } from '../find-agent.ts';

/** Characters of a message in the list of messages. */
const WORDS_MAX = 200;

type Rewound = DocumentOf<'coppice/rewind/v1'>;

interface RewindOptions {
  readonly to?: string;
  readonly edit?: string;
  readonly result?: string;
  readonly files?: boolean;
  readonly dryRun?: boolean;
}

/** `coppice rewind [ID] --to WHEN`: makes a new tree that is as this one was then. */
export function rewind(context: Context, text: string | undefined, options: RewindOptions): Promise<number> {
  if (options.to === undefined && options.result === undefined && !context.json)
    return ask(context, (asked) => listPlaces(context, asked, text));
  return ask(context, async (asked) => {
    const root_id = await findRoot(context, asked, text, { only_here: true });
    const { model } = context.options;
    const order = {
      ...(await whenOf(options)),
      ...(model === undefined ? {} : { model }),
    };
    let { files = false } = options;
    if (!files && options.dryRun !== true && !context.json && process.stdin.isTTY) {
      const plan = await asked.rewindTree(root_id, { ...order, dry_run: true });
      if (plan.files.length > 0) {
        process.stderr.write(`${plan.difference.map((line) => `${clean(line)}\n`).join('')}`);
        const count = plan.files.length === 1 ? 'this file' : `these ${plan.files.length} files`;
        files = await confirm(`Restore ${count}, too? [y] restore  [n] leave as they are: `);
      }
    }
    const done = await asked.rewindTree(root_id, { ...order, files, dry_run: options.dryRun === true });
    return printResult(context, done, () => linesOf(done, context.hint));
  });
}

const PLACES_MAX = 400;

/** Prints the newest messages of an agent to which one can go back. */
async function listPlaces(context: Context, asked: Calls, text: string | undefined): Promise<number> {
  const { root_id: root, id } =
    text === undefined
      ? await asked.agent(await findRoot(context, asked, text, { only_here: true }))
      : await findAgent(context, asked, text);
  const { messages } = await asked.messages(id, { tail: PLACES_MAX });
  const rows = messages.flatMap((message): string[][] => {
    const said = saidAt(message as Message);
    if (said === null) return [];
    const ago = duration(Math.max(0, Date.now() - message.at));
    return [[String(message.seq), said.who, `${ago} ago`, cutText(clean(said.text), WORDS_MAX, '…')]];
  });
  printLines([
    ...tableLines(['MESSAGE', 'WHO', 'AGE', 'WORDS'], rows, {
      width: context.width,
      right: new Set([0, 2]),
      style: context.out,
    }),
    `Go back to one of these: ${context.hint(`coppice rewind ${root.slice(0, 8)} --to ${id === root ? '' : `${id.slice(0, 8)}#`}N`)}`,
  ]);
  return 0;
}

/** The moment, and the text that something there gets instead. */
async function whenOf({ to, edit, result }: RewindOptions) {
  const [, call, said] = /^([^=]+)=(.*)$/s.exec(result ?? '') ?? [];
  if (result !== undefined && (call === undefined || to !== undefined || edit !== undefined))
    throw new CoppiceError('E_USAGE', '--result needs CALL=TEXT, and neither --to nor --edit');
  const named = call ?? to;
  if (named === undefined)
    throw new CoppiceError('E_USAGE', 'name a moment with --to, or a call with --result');
  const text = said ?? edit;
  return { to: named, ...(text !== undefined && { edit: await readText(text, 'text', '--edit') }) };
}

function linesOf(done: Rewound, hint: Context['hint']): string[] {
  const { root_id, of, at, files } = done;
  const ago = duration(Math.max(0, Date.now() - Date.parse(at)));
  const next =
    root_id === null
      ? 'nothing was done: leave out --dry-run'
      : hint(
          `the new tree is ${root_id.slice(0, 8)}; it rests. To go on with it: coppice resume ${root_id.slice(0, 8)}`,
        );
  return [
    `${of.slice(0, 8)} as it was ${ago} ago (${at})`,
    ...rewoundLines(done).map((line) => `  ${line}`),
    ...files.map(
      ({ path, restored }) =>
        `${clean(path)} ${restored ? 'has its content of then' : 'was changed since: --files restores it'}`,
    ),
    next,
  ];
}
