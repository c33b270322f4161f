import * as z from 'zod';
import { THINKING } from '../../records/agent/agent.ts';
import { framedName, nameFault } from '../../records/agent/agent-name.ts';
import type { FailureKind } from '../../records/agent/failure.ts';
import type { ChildResult } from '../../records/agent/state.ts';
import type { Mail } from '../../records/conversation/mail.ts';
import { orElse } from '../../records/coppice-error.ts';

const id = z.string().regex(/^[\w-]+$/);

/** An order to an agent from a person, or from its parent (`cancel`); mail of kind `control` carries it to the process that leads the agent. */
const order = z.discriminatedUnion('type', [
  z.object({ type: z.literal('cancel'), reason: z.string() }),
  /** Asks the model again after a failure; `without_last` leaves out the refused message, by default the newest that the model saw. */
  z.object({ type: z.literal('retry'), without_last: z.boolean().exactOptional() }),
  /** The answer to an ask. */
  z.object({
    type: z.literal('answer'),
    ask_id: z.string(),
    verdict: z.enum(['allow', 'deny']),
    note: z.string(),
    /** The rule that the answer grants holds until the turn ends. */
    turn: z.boolean().exactOptional(),
    /** The question was dismissed without a decision. */
    dismissed: z.boolean().exactOptional(),
  }),
  /** As `CaptureContent`. */
  z.object({
    type: z.literal('capture'),
    text: z.string(),
    mark: z.enum(['begun', 'ended']).exactOptional(),
  }),
  /** `id`: the id of the child. `prompt`: null for a child that starts idle. `captured`: the prompt is the captured text, and the capture ends. */
  z.object({
    type: z.literal('fork'),
    id,
    name: z.string().refine((name) => nameFault(name) === null),
    prompt: z.string().nullable(),
    captured: z.boolean().exactOptional(),
  }),
  /** A program creates a child, as the agent's own call of this tool would. `id`: of the child; `schema`: of its result, for a fork. */
  z.object({
    type: z.literal('create'),
    id,
    tool: z.enum(['fork', 'subagent_spawn']),
    input: z.record(z.string(), z.unknown()).readonly(),
    schema: z.record(z.string(), z.unknown()).readonly().exactOptional(),
  }),
  /** Starts a workflow as a child. `id`: of the child; `run_id`: of its row in the run history; `by`: the agent that starts it. As `WorkflowTerms`. */
  z.object({
    type: z.literal('workflow'),
    by: z.string(),
    id,
    run_id: id,
    workflow: z.object({
      name: z.string(),
      description: z.string(),
      script: z.string(),
      within: z
        .array(
          z.object({ wanted: z.string(), name: z.string(), description: z.string(), script: z.string() }),
        )
        .readonly()
        .exactOptional(),
      args: z.string().exactOptional(),
      reuses: z.object({ run: z.string(), fresh: z.array(z.string()).readonly() }).exactOptional(),
      seed: z.string(),
      started_at: z.number(),
      calls: z.number(),
      nested: z.literal(true).exactOptional(),
      from: z.object({ agent_id: z.string(), seq: z.number() }).exactOptional(),
    }),
  }),
  /** To a workflow run: it and all below it make no further requests. From the run to those below it, with `stops`: what is under way is broken off. */
  z.object({ type: z.literal('pause'), stops: z.boolean() }),
  /** To a paused workflow run, which passes it on to all below it: they go on. */
  z.object({ type: z.literal('go-on') }),
  /** Switches the tool `workflow` on. */
  z.object({ type: z.literal('workflows') }),
  /** Switches the model, or how much it thinks, from the next request on. */
  z.object({ type: z.literal('model'), model: z.string(), thinking: z.enum(THINKING).exactOptional() }),
  /** Summarises the older part of the conversation; `note`: what is to be kept. */
  z.object({ type: z.literal('compact'), note: z.string() }),
  /** To a root: switches the mode of its tree. */
  z.object({ type: z.literal('mode'), mode: z.enum(['ask', 'accept', 'plan']) }),
  /** `/wait` (docs/tui.md). `from`: ids of agents, or null for the next message from anyone. */
  z.object({
    type: z.literal('wait'),
    timeout_ms: z.number(),
    from: z.array(z.string()).readonly().nullable(),
  }),
]);

export type Order = z.infer<typeof order>;

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
