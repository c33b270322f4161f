import { clean } from '../../../render/clean.ts';
import { stateMark } from '../../../render/state-mark.ts';
import type { AgentLine } from '../../channel.ts';
import type { TextBuilder } from '../text/text-builder.ts';

const DOING_MAX = 100;
/** Telegram has every sign, and no colours. */
const PLAIN = { colour: false, unicode: true } as const;

/** One line for each agent, its name first, those below another one behind a branch. */
export function writeAgents(builder: TextBuilder, agents: readonly AgentLine[]): void {
  const top = agents[0]?.depth ?? 0;
  agents.forEach(({ name, depth, status, doing }, index) => {
    if (index > 0) builder.write('\n');
    if (depth > top) builder.write(`${'  '.repeat(depth - top - 1)}└ `);
    builder.styled('bold', () => builder.write(clean(name)));
    builder.write(` ${stateMark(status, PLAIN)}`);
    if (doing !== null) builder.write(` · ${clean(doing).slice(0, DOING_MAX).toWellFormed()}`);
  });
}
