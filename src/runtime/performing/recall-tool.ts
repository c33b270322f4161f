import * as z from 'zod';
import { assistantText } from '../../records/conversation/child-text.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { outputText } from '../../records/text/untrusted-text.ts';
import type { Tool } from '../../records/tool.ts';
import type { Store } from '../../store/store.ts';
import { defineOwnTool } from '../../tools/define-tool.ts';

/** Maximum characters of one result: small enough for small context windows. */
const PAGE = 4_000;

const input = z.strictObject({
  seq: z.int().min(1).describe('Number of the message'),
  from: z.int().min(0).nullish().describe('Character to read on from; default 0'),
});

/**
 * The tool `recall`: reads messages that are no longer sent to the model, from the agent's
 * history in the ledger. Described to the model once something was cut (docs/context.md).
 */
export function createRecallTool(store: Pick<Store, 'history'>): Tool {
  return defineOwnTool({
    name: 'recall',
    description: `Reads an earlier message of this conversation, word for word, by the number named where it was shortened or replaced. At most ${PAGE} characters at a time.`,
    input,
    side_by_side: true,
    idempotent: true,
    permission: { default: 'allow' },
    subject: ({ seq }) => String(seq),
    async run({ seq, from }, { agent }) {
      const [message] = await store.history(agent.id, seq - 1, 1);
      if (message === undefined)
        return { status: 'error', output: `there is no message ${seq}: this conversation has fewer` };
      const text = textIn(message);
      const start = from ?? 0;
      const page = text.slice(start, start + PAGE);
      const rest = text.length - start - page.length;
      const more =
        rest <= 0 ? '' : `\n[… ${rest} more characters: recall {"seq": ${seq}, "from": ${start + PAGE}} …]`;
      return `${page.toWellFormed()}${more}`;
    },
  }) as Tool;
}

function textIn({ kind, content }: PlacedMessage): string {
  switch (kind) {
    case 'assistant': {
      const calls = content.parts.flatMap((part) =>
        part.type === 'call' ? [`${part.name} ${part.input}`] : [],
      );
      return [assistantText(content), ...calls].filter((text) => text !== '').join('\n');
    }
    case 'result':
      return outputText(content);
    default:
      return content.text;
  }
}
