import {
  type InputRequests,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Ask } from '../records/conversation/ask.ts';
import { storable } from '../records/text/text.ts';
import { clean, cleanLines } from '../render/clean.ts';
import type { ClientAgent } from './client-agent.ts';
import type { McpOptions } from './mcp-options.ts';
import { askLine } from './rows.ts';

/** Maximum characters of a call's input or diff that a form shows. */
const SHOWN_MAX = 4_000;
/** Maximum answers in one request: each is looked up in the ledger. */
const ANSWERS_MAX = 256;

/** Open approvals as forms that the client shows to its user, by the id of the approval, which is never reused. */
export function approvalForms(asks: readonly Ask[]): InputRequests {
  return Object.fromEntries(
    asks.map((ask) => [
      ask.id,
      inputRequired.elicit({
        message: questionOf(ask),
        requestedSchema: {
          type: 'object',
          properties: {
            decision: { type: 'string', enum: ['allow once', 'deny'], title: 'Decision' },
            note: { type: 'string', title: 'What to tell the agent if denied' },
          },
          required: ['decision'],
        },
      }),
    ]),
  );
}

function questionOf(ask: Ask): string {
  const { agent_name, cwd, rule, difference, tool, input } = ask;
  const shown = difference ?? (tool === 'bash' ? '' : input);
  return [
    `${clean(agent_name)} wants: ${clean(askLine(ask))}`,
    `in ${clean(cwd)} · rule: ${clean(rule)}`,
    ...(shown === '' ? [] : [cleanLines(shown.slice(0, SHOWN_MAX))]),
  ].join('\n');
}

const response = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z
    .object({ decision: z.enum(['allow once', 'deny']).optional(), note: z.string().optional() })
    .optional(),
});

/** Records the answers that people gave. A form that was closed leaves its approval open; answers to approvals of other clients are ignored. */
export async function answerForms(
  client: ClientAgent,
  responses: Readonly<Record<string, unknown>>,
  { store, runtime }: Pick<McpOptions, 'store' | 'runtime'>,
): Promise<void> {
  const given = Object.entries(responses);
  if (given.length > ANSWERS_MAX)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `inputResponses: ${given.length} answers; the maximum is ${ANSWERS_MAX} at once`,
    );
  for (const [id, said] of given) {
    const read = response.safeParse(said);
    if (!read.success) continue;
    const ask = (await store.findAsks(id)).find((one) => one.id === id);
    if (ask === undefined || ask.verdict !== null) continue;
    const agent = await store.agent(ask.agent_id);
    if (agent === null || !(await client.owns(agent))) continue;
    const { action, content } = read.data;
    if (action === 'cancel' || (action === 'accept' && content?.decision === undefined)) continue;
    const allows = action === 'accept' && content?.decision === 'allow once';
    await runtime
      .answer(id, {
        verdict: allows ? 'allow' : 'deny',
        scope: 'once',
        note: allows ? '' : storable(content?.note ?? ''),
        by: `the user of ${client.name}`,
      })
      // Another answer was committed first.
      .catch(() => undefined);
  }
}
