import { z } from 'zod';
import { group, list, maybe, number, one, text, texts } from './document-parts.ts';

const range = z.tuple([z.number(), z.number()]).readonly();

export const attached = group('what a person attached, of which the text follows theirs', {
  typed: number('length of what they wrote, in UTF-16 code units'),
  labels: z.array(z.string()).readonly().describe('what each attachment is'),
});

const status = z.literal('idle');

/** The completion in a letter; it may have more fields. */
export const completion = z
  .discriminatedUnion('success', [
    z.looseObject({
      status,
      success: z.literal(true),
      summary: z.string(),
      submitted: z.literal(false).exactOptional(),
    }),
    z.looseObject({
      status,
      success: z.literal(false),
      error: z.string(),
      partial: z.string().exactOptional(),
    }),
  ])
  .describe('the report that the letter is');

export const waited = group('how a wait ended', {
  rows: list('one for each agent, as in the result of [`wait`](vocabularies.md)', {
    agent_id: text('the agent; `user`: a person'),
    name: text('its name'),
    status: one('how it stands', 'received', 'running', 'idle', 'dead', 'waits_for_you'),
    message: text('its letter').optional(),
    waits_for: texts('names of those that it waits for').optional(),
    last_reply: text('its last text').optional(),
    error: text('why its turn failed').optional(),
    limit: text('the limit that cut its turn short').optional(),
    did: text('what it really did').optional(),
  }),
  cut: z.enum(['timeout', 'interrupted']).nullable().describe('what ended it before all had answered'),
});

const letters = list('letters that left the mailbox with this message', {
  id: text('uuid'),
  from_id: maybe('null: a person'),
});

export const userFacts = group('what the text was made of; never sent to a model', {
  letters: letters.optional(),
  attached: attached.optional(),
  frames: list('text of others in the text, in its frames', {
    frame: range.describe('the whole frame: its beginning and its end, in UTF-16 code units'),
    inside: range.describe('what is in it'),
    reason: z.literal(true).optional().describe('set for the reason of an end'),
    letter: group('the letter that it is', {
      from_id: text('who wrote it'),
      from_name: text('the name of who wrote it'),
      did: text('what they had really done by then').optional(),
      completion: completion.optional(),
    }).optional(),
  }).optional(),
  notice: texts('of a notice of new mail: the senders').optional(),
  fan_in: list('of the results of sub-agents: a row for each', {
    agent_id: text('the sub-agent'),
    task: text('the beginning of its task'),
    said: text('the beginning of its result, or of why it failed'),
    error_kind: text('set if it failed').optional(),
    limit: text('the limit that cut it short').optional(),
    did: text('what it really did').optional(),
  }).optional(),
  fork: group('of the first message of a fork', {
    name: text('the fork'),
    task: number('where its task begins in the text'),
  }).optional(),
});

export const resultFacts = group('what the result is made of; never sent to a model', {
  letters: letters.optional(),
  attached: attached.optional(),
  waited: waited.optional(),
  created: texts('agents that the call created').optional(),
});
