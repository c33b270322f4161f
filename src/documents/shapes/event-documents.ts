import { z } from 'zod';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { agent, mail, treeRow } from './agent-parts.ts';
import { approval, oneOf, text, texts, worker } from './document-parts.ts';
import { message } from './message-lines.ts';

const delta = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('reasoning'), text: z.string() }),
  z.strictObject({ type: z.literal('call'), id: z.string(), name: z.string() }),
  z.strictObject({ type: z.literal('restart'), reason: z.string() }),
  z.strictObject({ type: z.literal('waiting'), reason: z.string(), delay_ms: z.number().nullable() }),
  z.strictObject({ type: z.literal('sent') }),
]);

const event = z.strictObject({
  type: oneOf(
    'what happened; the same as `event` of the stream',
    'tree',
    'agent',
    'message',
    'mail',
    'approval',
    'removed',
    'delta',
    'output',
    'workers',
    'changed',
    'resync',
  ),
  tree: treeRow.optional().describe('with `tree`: the row of a tree that is new or has changed'),
  agent: agent.optional().describe('with `agent`: an agent that is new or has changed; its `title` is null'),
  agent_id: text('with `message`, `delta` and `output`: the agent').optional(),
  message: message.optional().describe('with `message`: a message of its conversation'),
  mail: mail.optional().describe('with `mail`: what was addressed to an agent'),
  approval: approval.optional().describe('with `approval`: it was asked, or answered (`verdict`)'),
  ids: texts('with `removed`: agents whose conversations were deleted').optional(),
  delta: delta.optional().describe('with `delta`: what the model just wrote'),
  call_id: text('with `output`: the call').optional(),
  text: text('with `output`: what it just printed').optional(),
  trees: texts('with `changed`: roots of trees in which something has changed').optional(),
  workers: z.array(worker).optional().describe('with `workers`: all of them'),
});

/** One event of `GET /v1/events`. */
export const EVENT_DOCUMENT = { 'coppice/event/v1': { shape: event } };

export type EventDocument = DeepReadonly<z.infer<typeof event>> & { readonly schema: 'coppice/event/v1' };
