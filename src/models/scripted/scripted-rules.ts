import * as z from 'zod';
import { isRegex, templateFault } from './scripted-template.ts';

const regex = z.string().refine(isRegex, 'is not a valid regular expression');

const template = z.string().superRefine((text, context) => refuse(text, [], context));

/** Maximum calls that `repeat` may make. */
export const MOST_REPEATS = 100_000;

/** One call of a rule. Rule files are documented in docs/scripted-model.md. */
const call = z.strictObject({
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()).superRefine((input, context) => refuse(input, [], context)),
  /** How many times the call is made in one message; `{{index}}` counts from 0. A text is a template for the number. */
  repeat: z.union([z.int().min(0).max(MOST_REPEATS), template]).optional(),
});

export const scriptedRule = z.strictObject({
  when: z
    .strictObject({
      /** Name of the agent; `*` stands for anything. */
      agent: z.string().optional(),
      root: z.boolean().optional(),
      /** Number of answers that the agent has given since it was created. */
      step: z.int().min(0).optional(),
      /** Matched against the newest user message. */
      user: regex.optional(),
      /** Name of the tool with the newest result. No match without a result since the newest user message. */
      tool: z.string().optional(),
      /** Matched against the newest result. */
      result: regex.optional(),
    })
    .default({}),
  /** Whether the rule answers each agent at most once. */
  once: z.boolean().optional(),
  say: template.optional(),
  reasoning: template.optional(),
  calls: z.array(call).optional(),
  /** Milliseconds before the answer begins. */
  delay_ms: z.int().min(0).max(600_000).optional(),
  /** Milliseconds between pieces of the text. */
  chunk_ms: z.int().min(0).max(10_000).optional(),
  usage: z
    .strictObject({
      input: z.int().min(0).optional(),
      output: z.int().min(0).optional(),
      cached: z.int().min(0).optional(),
    })
    .optional(),
});

export const scriptedRules = z.strictObject({
  /** Maximum tokens of a request (four characters each); a larger one is refused. */
  context_window: z.int().positive().optional(),
  rules: z.array(scriptedRule).min(1),
});

export type ScriptedRules = z.input<typeof scriptedRules>;
export type CheckedRule = z.output<typeof scriptedRule>;

/** Reports every invalid template in a value, with its path. */
function refuse(value: unknown, path: readonly PropertyKey[], context: z.RefinementCtx): void {
  if (typeof value === 'string') {
    const message = templateFault(value);
    if (message !== null) context.addIssue({ code: 'custom', path: [...path], message });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) refuse(inner, [...path, key], context);
  }
}
