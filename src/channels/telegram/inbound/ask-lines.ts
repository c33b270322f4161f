import type { Ask } from '../../../records/conversation/ask.ts';
import { clean } from '../../../render/clean.ts';
import { inOneLine } from '../../../render/plain-sight.ts';
import { shortIds } from '../../../render/short-ids.ts';
import type { TextBuilder } from '../text/text-builder.ts';

const SUBJECT_MAX = 200;

/** One line for each open question, by an id that is short and distinct. */
export function writeAsks(builder: TextBuilder, asks: readonly Ask[]): void {
  const short = shortIds(asks.map((ask) => ask.id));
  for (const ask of asks) {
    builder.code(short.get(ask.id) ?? ask.id);
    builder.write(` ${clean(ask.agent_name)} wants ${clean(ask.tool)}`);
    const subject = inOneLine(ask.subject, SUBJECT_MAX);
    if (subject !== '') builder.write(`: ${subject}`);
    builder.write('\n');
  }
}
