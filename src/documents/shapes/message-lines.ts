import { z } from 'zod';
import { EVENTS } from '../../records/conversation/message.ts';
import { facts, group, image, number, oneOf, text } from './document-parts.ts';

const place = {
  agent_id: text('the agent that it was written by; of an inherited one, an ancestor'),
  seq: number('counts from 1 without gaps along the history of the agent'),
  at: number('milliseconds since 1970'),
};

const file = z.strictObject({
  path: text('absolute'),
  hash: text('of the content that the agent has seen or written'),
  before: z
    .string()
    .nullable()
    .optional()
    .describe('of a change: hash of the content before; null: a new file'),
  lines: z
    .tuple([z.number(), z.number()])
    .readonly()
    .optional()
    .describe('of a change: its first and last line in the new content'),
  base: text('of a change: the text before, where no earlier change in the ledger leads to it').optional(),
});

/** One line of `logs`, by its kind. */
export const messages = {
  user: z.strictObject({
    kind: z.literal('user').describe('what the model was told'),
    content: group('what was said', {
      origin: oneOf(
        'a person, letters, the runtime, who a fork is, the task of a fresh conversation',
        'human',
        'mail',
        'system',
        'identity',
        'task',
      ),
      text: text('the text'),
      images: z.array(image).optional().describe('pictures'),
      facts: facts.optional(),
    }),
    ...place,
  }),
  assistant: z.strictObject({
    kind: z.literal('assistant').describe('what the model said'),
    content: group('the answer', {
      model: text('`provider/model` that wrote it'),
      parts: z
        .array(
          z.discriminatedUnion('type', [
            z.strictObject({ type: z.literal('text'), text: z.string(), metadata: z.unknown().optional() }),
            z.strictObject({
              type: z.literal('reasoning'),
              text: z.string(),
              metadata: z.unknown().optional(),
            }),
            z.strictObject({
              type: z.literal('call'),
              id: z.string(),
              name: z.string(),
              input: z.string(),
              read: z
                .strictObject({
                  name: z.string(),
                  input: z.string(),
                  changes: z.array(z.string()),
                  note: z.string().optional(),
                })
                .optional(),
              metadata: z.unknown().optional(),
            }),
          ]),
        )
        .describe(
          '`{type: "text", text}`, `{type: "reasoning", text}` or `{type: "call", id, name, input}`, `input` being JSON as text; `read` is how the call was read and run where that is not as the model wrote it, with what was changed and the `note` that the model got; `metadata` is the provider’s own',
        ),
      finish: z
        .enum(['length', 'refused', 'interrupted'])
        .optional()
        .describe('set when the answer is not whole'),
      reason: text("the provider's own word for it").optional(),
      response: group('what the provider says of the answer', {
        id: text('its id').optional(),
        model: text('the model that answered').optional(),
        cache_written: number('tokens that were written to its cache').optional(),
        first_ms: number('from the request to the first piece of the answer').optional(),
      }).optional(),
    }),
    ...place,
  }),
  result: z.strictObject({
    kind: z.literal('result').describe('the result of a call'),
    content: group('the result', {
      call_id: text('the `id` of the call'),
      name: text('the tool'),
      status: oneOf(
        '`interrupted`: its process died while it ran, the outcome is unknown',
        'ok',
        'error',
        'denied',
        'interrupted',
        'cancelled',
      ),
      output: text('what the model got'),
      did: text(
        'of a delegated task: what its agent really did; the model reads it after `output`',
      ).optional(),
      images: z.array(image).optional().describe('pictures'),
      file: file.optional().describe('the file that the call showed or changed; not for the model'),
      facts: facts.optional(),
    }),
    ...place,
  }),
  event: z.strictObject({
    kind: z.literal('event').describe('something for people; never sent to a model'),
    content: group('the event', {
      event: oneOf('what happened', ...EVENTS),
      text: text('in words'),
      data: z.unknown().optional().describe('details, by event'),
    }),
    ...place,
  }),
  capture: z.strictObject({
    kind: z
      .literal('capture')
      .describe('text that a person captured for a sub-agent; never sent to this model'),
    content: group('the text', {
      text: text('the text'),
      mark: z.enum(['begun', 'ended']).optional().describe('the first and last row of a capture'),
    }),
    ...place,
  }),
};

export const message = z.discriminatedUnion('kind', [
  messages.user,
  messages.assistant,
  messages.result,
  messages.event,
  messages.capture,
]);
