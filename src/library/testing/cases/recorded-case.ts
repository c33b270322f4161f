import * as z from 'zod';
import type { AssistantPart, ProviderMetadata } from '../../../records/conversation/message.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { explainIssues } from '../../../records/text/explain-issues.ts';

/** A run as a test (docs/testing-agents.md): what its models answered, what its tools returned, what people wrote, and what its models were sent. */

const metadata = z.record(z.string(), z.record(z.string(), z.unknown())).optional() as z.ZodType<
  ProviderMetadata | undefined
>;
const part = z.union([
  z.strictObject({ type: z.enum(['text', 'reasoning']), text: z.string(), metadata }),
  z.looseObject({ type: z.literal('call'), id: z.string(), name: z.string(), input: z.string(), metadata }),
]) as z.ZodType<AssistantPart>;

/** What a model was sent: places of `texts`; the first `kept` messages are those of the agent's request before. */
const sent = z.strictObject({
  system: z.int().min(0),
  tools: z.int().min(0),
  kept: z.int().min(0),
  told: z.array(z.string()),
});

const at = {
  /** Place of the agent in `agents`. */
  agent: z.int().min(0),
  /** Milliseconds since the run began. */
  at_ms: z.number().min(0),
  /** Steps of one round were close together: what an agent was told of them, it was told in one go. */
  round: z.int().min(0),
};

const step = z.discriminatedUnion('type', [
  z.strictObject({
    ...{ type: z.literal('answer'), ...at, sent: sent.optional() },
    parts: z.array(part),
    finish: z.enum(['length', 'refused']).optional(),
    usage: z.strictObject({ input: z.number(), output: z.number(), cached: z.number() }),
  }),
  z.strictObject({
    ...{ type: z.literal('failure'), ...at, sent: sent.optional() },
    kind: z.string(),
    error: z.string(),
  }),
  z.strictObject({
    ...{ type: z.literal('result'), ...at },
    ...{ call_id: z.string(), name: z.string(), input: z.string() },
    ...{ status: z.enum(['ok', 'error', 'denied', 'interrupted', 'cancelled']), output: z.string() },
  }),
  /** Of a person. */
  z.strictObject({ type: z.literal('letter'), ...at, text: z.string() }),
  z.strictObject({ type: z.enum(['kill', 'retry']), ...at }),
]);

const recordedCase = z.strictObject({
  schema: z.literal('coppice/case/v1'),
  /** Version that recorded it. */
  version: z.string(),
  recorded_at: z.string(),
  root: z.strictObject({
    prompt: z.string(),
    name: z.string(),
    model: z.string(),
    thinking: z.enum(['off', 'low', 'medium', 'high']),
    profile: z.string().optional(),
    toolsets: z.array(z.string()),
    /** Folder in which it ran. */
    cwd: z.string(),
    limits: z.record(z.string(), z.number().nullable()),
    /** What did not come from the configuration: it stays as it was recorded. */
    fixed: z.strictObject({
      system: z.string().optional(),
      instructions: z.string().optional(),
      tools: z.array(z.string()).optional(),
    }),
  }),
  /** In the order of their creation; `parent`: place in this list, null for the root. */
  agents: z
    .array(z.strictObject({ id: z.string(), name: z.string(), parent: z.int().min(0).nullable() }))
    .min(1),
  steps: z.array(step),
  /** Text of the last answer of the root. */
  reply: z.string(),
  /** Texts that many requests share: system texts, and descriptions of tools as JSON. */
  texts: z.array(z.string()),
});

export type RecordedCase = z.infer<typeof recordedCase>;
export type CaseStep = RecordedCase['steps'][number];
export type Sent = z.infer<typeof sent>;

/** Reads a recorded case. Throws `E_INVALID_ARGUMENT`; `label` names it. */
export function readCase(text: string, label: string): RecordedCase {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refused(`it is not JSON: ${(error as Error).message}`, label);
  }
  const parsed = recordedCase.safeParse(value);
  if (!parsed.success) throw refused(explainIssues(parsed.error.issues, value).replaceAll('\n', '; '), label);
  const { agents, steps, texts } = parsed.data;
  const places = steps.flatMap((one) => ('sent' in one && one.sent ? [one.sent.system, one.sent.tools] : []));
  const fault =
    places.some((place) => place >= texts.length) ||
    steps.some(({ agent }) => agent >= agents.length) ||
    agents.some(({ parent }, place) => (place === 0) !== (parent === null) || (parent ?? -1) >= place);
  if (fault) throw refused('an agent or a text that it names is not in it', label);
  return parsed.data;
}

function refused(why: string, label: string): CoppiceError {
  return new CoppiceError('E_INVALID_ARGUMENT', `${label} is no recorded case: ${why}`, {
    hint: 'Make one: coppice record ID > case.json',
  });
}
