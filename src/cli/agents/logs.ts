import { isTerminal } from '../../records/agent/state.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { paint, type Style } from '../../render/style.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { findAgent, findRoot } from './find-agent.ts';
import { ledgerHints } from './ledger-hints.ts';

const PAGE = 500;
const POLL_MS = 1_000;

export interface LogsOptions {
  readonly follow?: boolean;
  readonly tail?: number;
}

/** `coppice logs ID [-f]`: the transcript, including the inherited part; `-f` follows it until the agent has ended. */
export function logs(context: Context, text: string | undefined, options: LogsOptions): Promise<number> {
  return withStore(context, async (store) => {
    const agent = await (text === undefined
      ? findRoot(context, store, text)
      : findAgent(context, store, text));
    let seen = options.tail === undefined ? 0 : Math.max(0, agent.last_seq - options.tail);
    const calls = new Map<string, string>();
    // The first results may answer calls of an earlier message.
    const before = seen === 0 ? [] : await store.history(agent.id, Math.max(0, seen - PAGE), PAGE);
    for (const message of before) if (message.seq <= seen) numberCalls(message, calls);
    const drain = async (): Promise<void> => {
      for (
        let page = await store.history(agent.id, seen, PAGE);
        page.length > 0;
        page = await store.history(agent.id, seen, PAGE)
      ) {
        for (const message of page) {
          numberCalls(message, calls);
          print(context, message, agent.id, calls);
        }
        seen = page.at(-1)?.seq ?? seen;
      }
    };
    await drain();
    if (!options.follow) return 0;
    const hints = await ledgerHints(store);
    let left = false;
    const leave = () => {
      left = true;
      hints.wake();
    };
    process.once('SIGINT', leave);
    process.once('SIGTERM', leave);
    while (!left) {
      const now = await store.agent(agent.id);
      await drain();
      if (now === null || isTerminal(now.state.type)) break;
      await hints.next(POLL_MS);
    }
    await hints.stop();
    return 0;
  });
}

/** Numbers parallel calls, so that each result shows which call it answers. */
function numberCalls(message: PlacedMessage, calls: Map<string, string>): void {
  if (message.kind !== 'assistant') return;
  const made = message.content.parts.filter((part) => part.type === 'call');
  calls.clear();
  if (made.length > 1) for (const [index, { id }] of made.entries()) calls.set(id, `${index + 1} `);
}

function print(
  context: Context,
  message: PlacedMessage,
  agent_id: string,
  calls: ReadonlyMap<string, string>,
): void {
  if (context.json) {
    printJson(message);
    return;
  }
  const inherited = message.agent_id === agent_id ? '' : paint(context.out, 'dim', '⑂ ');
  const time = new Date(message.at).toISOString().slice(11, 19);
  process.stdout.write(
    `${inherited}${paint(context.out, 'dim', `${time} #${message.seq}`)} ${body(message, context.out, calls)}\n`,
  );
}

function body(message: PlacedMessage, style: Style, calls: ReadonlyMap<string, string>): string {
  switch (message.kind) {
    case 'user':
      return `${paint(style, 'bold', message.content.origin === 'human' ? 'you' : message.content.origin)}: ${cleanLines(message.content.text)}`;
    case 'assistant':
      return message.content.parts
        .map((part) => {
          if (part.type === 'call')
            return paint(
              style,
              'cyan',
              `● ${calls.get(part.id) ?? ''}${clean(part.name)} ${clean(part.input)}`,
            );
          return part.type === 'reasoning'
            ? paint(style, 'dim', cleanLines(part.text))
            : cleanLines(part.text);
        })
        .join('\n  ');
    case 'result': {
      const { call_id, name, status, output } = message.content;
      const whose = `${calls.get(call_id) ?? ''}${clean(name)} ${status}`;
      return `${paint(style, status === 'ok' ? 'green' : 'red', whose)}: ${cleanLines(output)}`;
    }
    case 'event':
      return paint(style, 'yellow', cleanLines(message.content.text));
    case 'capture': {
      const { text, mark } = message.content;
      return paint(style, 'dim', mark === undefined ? `┆ ${cleanLines(text)}` : `capture ${mark}`);
    }
  }
}
