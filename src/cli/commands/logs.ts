import { randomUUID } from 'node:crypto';
import type { PlacedMessage } from '../../core/message.ts';
import { isTerminal } from '../../core/state.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import { paint, type Style } from '../../render/style.ts';
import { printJson } from '../agent-json.ts';
import { type Context, withStore } from '../context.ts';
import { findAgent, findRoot } from '../find-agent.ts';

const PAGE = 500;
const POLL_MS = 1_000;

export interface LogsOptions {
  readonly follow?: boolean;
  readonly tail?: number;
}

/** `coppice logs ID [-f]`: the transcript, the inherited part included; `-f` goes on until the agent has ended. */
export function logs(context: Context, text: string | undefined, options: LogsOptions): Promise<number> {
  return withStore(context, async (store) => {
    const agent = await (text === undefined
      ? findRoot(context, store, text)
      : findAgent(context, store, text));
    let seen = options.tail === undefined ? 0 : Math.max(0, agent.last_seq - options.tail);
    const drain = async (): Promise<void> => {
      for (
        let page = await store.history(agent.id, seen, PAGE);
        page.length > 0;
        page = await store.history(agent.id, seen, PAGE)
      ) {
        for (const message of page) print(context, message, agent.id);
        seen = page.at(-1)?.seq ?? seen;
      }
    };
    await drain();
    if (!options.follow) return 0;
    let wake = (): void => undefined;
    const stop = await store.listen(randomUUID(), () => wake());
    let left = false;
    const leave = () => {
      left = true;
      wake();
    };
    process.once('SIGINT', leave);
    process.once('SIGTERM', leave);
    while (!left) {
      const now = await store.agent(agent.id);
      await drain();
      if (now === null || isTerminal(now.state.type)) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await stop();
    return 0;
  });
}

function print(context: Context, message: PlacedMessage, agent_id: string): void {
  if (context.json) {
    printJson(message);
    return;
  }
  const inherited = message.agent_id === agent_id ? '' : paint(context.out, 'dim', '⑂ ');
  const time = new Date(message.at).toISOString().slice(11, 19);
  process.stdout.write(
    `${inherited}${paint(context.out, 'dim', `${time} #${message.seq}`)} ${body(message, context.out)}\n`,
  );
}

function body(message: PlacedMessage, style: Style): string {
  switch (message.kind) {
    case 'user':
      return `${paint(style, 'bold', message.content.origin === 'human' ? 'you' : message.content.origin)}: ${cleanLines(message.content.text)}`;
    case 'assistant':
      return message.content.parts
        .map((part) => {
          if (part.type === 'call') return paint(style, 'cyan', `● ${clean(part.name)} ${clean(part.input)}`);
          return part.type === 'reasoning'
            ? paint(style, 'dim', cleanLines(part.text))
            : cleanLines(part.text);
        })
        .join('\n  ');
    case 'result': {
      const { name, status, output } = message.content;
      return `${paint(style, status === 'ok' ? 'green' : 'red', `${clean(name)} ${status}`)}: ${cleanLines(output)}`;
    }
    case 'event':
      return paint(style, 'yellow', cleanLines(message.content.text));
    case 'capture': {
      const { text, mark } = message.content;
      return paint(style, 'dim', mark === undefined ? `┆ ${cleanLines(text)}` : `capture ${mark}`);
    }
  }
}
