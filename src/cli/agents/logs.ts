import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { isWorking } from '../../records/agent/state.ts';
import { outputText } from '../../records/text/untrusted-text.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { paint, type Style } from '../../render/style.ts';
import type { Calls } from '../../serve/client/client.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { findAgentOrRoot, hasEnded } from './find-agent.ts';
import { tellUnled } from './wait.ts';

const PAGE = 500;
/** Interval at which `-f` checks whether anything can still come: no hint tells that a process has left. */
const RECHECK_MS = 2_000;

type Message = DocumentOf<'coppice/messages/v1'>['messages'][number];

interface LogsOptions {
  readonly follow?: boolean;
  readonly tail?: number;
}

/** `coppice logs ID [-f]`: the transcript, including the inherited part; `-f` follows it until nothing more can come. */
export function logs(context: Context, text: string | undefined, options: LogsOptions): Promise<number> {
  return ask(context, async (asked) => {
    const { id, messages: newest } = await asked.agent(await findAgentOrRoot(context, asked, text));
    let seen = options.tail === undefined ? 0 : Math.max(0, newest - options.tail);
    const calls = new Map<string, string>();
    // The first results may answer calls of an earlier message.
    const before = { after: Math.max(0, seen - PAGE), limit: PAGE };
    for (const message of seen === 0 ? [] : (await asked.messages(id, before)).messages)
      if (message.seq <= seen) numberCalls(message, calls);
    const drain = async (): Promise<void> => {
      for (;;) {
        const { messages, next } = await asked.messages(id, { after: seen, limit: PAGE });
        for (const message of messages) {
          numberCalls(message, calls);
          print(context, message, id, calls);
        }
        seen = messages.at(-1)?.seq ?? seen;
        if (next === null || messages.length === 0) return;
      }
    };
    if (!options.follow) {
      await drain();
      return 0;
    }
    const hints = await asked.hints(id);
    const told = new Set<string>();
    let left = false;
    const leave = () => {
      left = true;
      hints.wake();
    };
    process.once('SIGINT', leave);
    process.once('SIGTERM', leave);
    try {
      while (!left) {
        const [now] = (await asked.agents({ called: id })).agents;
        if (now === undefined) break;
        const is_over = hasEnded(now) || (await restsUnled(asked, now.root_id));
        await drain();
        if (is_over) break;
        tellUnled([now], told);
        await hints.next(RECHECK_MS);
      }
    } finally {
      await hints.stop();
    }
    return 0;
  });
}

/** Whether nothing more comes unless somebody starts a process or writes: the tree has nothing left to do, and no process leads agents. */
async function restsUnled(asked: Calls, tree: string): Promise<boolean> {
  const { agents } = await asked.agents({ tree, all: true });
  if (agents.some(({ state, unled }) => isWorking(state) || unled !== null)) return false;
  return (await asked.workers()).workers.every((worker) => worker.agents === 0 || worker.state === 'gone');
}

/** Numbers parallel calls, so that each result shows which call it answers. */
function numberCalls(message: Message, calls: Map<string, string>): void {
  if (message.kind !== 'assistant') return;
  const made = message.content.parts.filter((part) => part.type === 'call');
  calls.clear();
  if (made.length > 1) for (const [index, { id }] of made.entries()) calls.set(id, `${index + 1} `);
}

function print(
  context: Context,
  message: Message,
  agent_id: string,
  calls: ReadonlyMap<string, string>,
): void {
  if (context.json) {
    printJson(message);
    return;
  }
  const inherited = message.agent_id === agent_id ? '' : paint(context.out, 'dim', '» ');
  const time = new Date(message.at).toISOString().slice(11, 19);
  process.stdout.write(
    `${inherited}${paint(context.out, 'dim', `${time} #${message.seq}`)} ${body(message, context.out, calls)}\n`,
  );
}

function body(message: Message, style: Style, calls: ReadonlyMap<string, string>): string {
  switch (message.kind) {
    case 'user':
      return `${paint(style, 'bold', message.content.origin === 'human' ? 'you' : message.content.origin)}: ${cleanLines(message.content.text)}`;
    case 'assistant':
      return message.content.parts
        .map((part) => {
          if (part.type === 'call') {
            const { name, input, changes = [] } = { ...part, ...part.read };
            const shown = paint(style, 'cyan', `● ${calls.get(part.id) ?? ''}${clean(name)} ${clean(input)}`);
            return changes.length === 0
              ? shown
              : `${shown} ${paint(style, 'dim', `(${clean(changes.join('; '))})`)}`;
          }
          return part.type === 'reasoning'
            ? paint(style, 'dim', cleanLines(part.text))
            : cleanLines(part.text);
        })
        .join('\n  ');
    case 'result': {
      const { call_id, name, status } = message.content;
      const whose = `${calls.get(call_id) ?? ''}${clean(name)} ${status}`;
      return `${paint(style, status === 'ok' ? 'green' : 'red', whose)}: ${cleanLines(outputText(message.content))}`;
    }
    case 'event':
      return paint(style, 'yellow', cleanLines(message.content.text));
    case 'capture': {
      const { text, mark } = message.content;
      return paint(style, 'dim', mark === undefined ? `┆ ${cleanLines(text)}` : `capture ${mark}`);
    }
  }
}
