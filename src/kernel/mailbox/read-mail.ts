import * as z from 'zod';
import { framedName, nameFault } from '../../records/agent/agent-name.ts';
import type { FailureKind } from '../../records/agent/failure.ts';
import type { ChildResult } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { orElse } from '../../records/coppice-error.ts';
import type { Order } from './order.ts';

const order: z.ZodType<Order> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('cancel'), reason: z.string() }),
  z.object({ type: z.literal('retry'), without_last: z.boolean().exactOptional() }),
  z.object({
    type: z.literal('answer'),
    ask_id: z.string(),
    verdict: z.enum(['allow', 'deny']),
    note: z.string(),
    turn: z.boolean().exactOptional(),
    dismissed: z.boolean().exactOptional(),
  }),
  z.object({
    type: z.literal('capture'),
    text: z.string(),
    mark: z.enum(['begun', 'ended']).exactOptional(),
  }),
  z.object({
    type: z.literal('fork'),
    id: z.string().regex(/^[\w-]+$/),
    name: z.string().refine((name) => nameFault(name) === null),
    prompt: z.string().nullable(),
    captured: z.boolean().exactOptional(),
  }),
  z.object({
    type: z.literal('create'),
    id: z.string().regex(/^[\w-]+$/),
    tool: z.enum(['fork', 'subagent_spawn']),
    input: z.record(z.string(), z.unknown()),
    schema: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  z.object({
    type: z.literal('workflow'),
    by: z.string(),
    id: z.string().regex(/^[\w-]+$/),
    run_id: z.string().regex(/^[\w-]+$/),
    workflow: z.object({
      name: z.string(),
      description: z.string(),
      script: z.string(),
      within: z
        .array(
          z.object({ wanted: z.string(), name: z.string(), description: z.string(), script: z.string() }),
        )
        .exactOptional(),
      args: z.string().exactOptional(),
      reuses: z.object({ run: z.string(), fresh: z.array(z.string()) }).exactOptional(),
      seed: z.string(),
      started_at: z.number(),
      calls: z.number(),
      nested: z.literal(true).exactOptional(),
      from: z.object({ agent_id: z.string(), seq: z.number() }).exactOptional(),
    }),
  }),
  z.object({ type: z.literal('pause'), stops: z.boolean() }),
  z.object({ type: z.literal('go-on') }),
  z.object({ type: z.literal('workflows') }),
  z.object({ type: z.literal('model'), model: z.string() }),
  z.object({ type: z.literal('compact'), note: z.string() }),
  z.object({ type: z.literal('mode'), mode: z.enum(['ask', 'accept', 'plan']) }),
  z.object({ type: z.literal('wait'), timeout_ms: z.number(), from: z.array(z.string()).nullable() }),
]);

const childResult: z.ZodType<ChildResult> = z.object({
  agent_id: z.string(),
  did: z.string().exactOptional(),
  outcome: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('success'),
      result: z.string(),
      limit: z.string().exactOptional(),
      unsubmitted: z.literal(true).exactOptional(),
    }),
    z.object({
      type: z.literal('failure'),
      error: z.string(),
      // A newer version may write other kinds.
      error_kind: z.custom<FailureKind>((kind) => typeof kind === 'string'),
      partial: z.string().exactOptional(),
    }),
  ]),
});

/** The order in `control` mail; null if malformed: such mail must be discarded, or it would fail every later step of the agent. */
export function readOrder(mail: Mail): Order | null {
  return contentOf(mail, order);
}

/** The child's result in mail of kind `outcome` or `announce`; null if malformed. */
export function readChildResult(mail: Mail): ChildResult | null {
  return contentOf(mail, childResult);
}

function contentOf<T>({ body }: Mail, schema: z.ZodType<T>): T | null {
  return orElse(() => schema.safeParse(JSON.parse(body)).data ?? null, null);
}

/** The message to people about malformed mail. */
export function unreadable({ kind, from_name }: Mail): string {
  return `mail (${kind}) from ${framedName(from_name)} is malformed and was discarded`;
}
