import { z } from 'zod';
import { agent, mail } from './agent-parts.ts';
import { group, list, maybe, maybeNumber, number, outcome, text, time } from './document-parts.ts';

const column = (meaning: string) => z.array(z.number()).describe(meaning);

/** Activity of one agent over time, as columns of equal length. */
export const lane = z.strictObject({
  agent: number('which one, an index of `ids`'),
  name: text('its name'),
  parent: maybeNumber('index of its parent; null for the root'),
  depth: number('0 for the root'),
  origin: agent.shape.origin,
  status: text('in one word, as of agents'),
  ...outcome,
  model: text('`provider/model`'),
  thinking: agent.shape.thinking,
  created: number('when it was created'),
  ended: maybeNumber('when it ended for good'),
  workflow: maybe('the workflow that it runs, by name'),
  phase: maybe('the phase of the workflow that started it'),
  fork_seq: maybeNumber('`seq` of the message of its parent that it was forked from'),
  tool_calls: number('calls made so far'),
  tokens: number('input and output so far'),
  cost_usd: maybeNumber('US dollars so far; null where no price is known'),
  spans: group('what it did, by start', {
    kind: column('0 request, 1 tool, 2 waiting for agents, 3 approval, 4 queued, 5 idle'),
    name: column('the model or the tool, an index of `names`'),
    said: column('the first words of the answer, or the first text of the call, an index of `names`'),
    status: column('0 open, 1 ok, 2 error, 3 denied, 4 interrupted, 5 cancelled, 6 timeout'),
    start: column('when it began, counted from the start of the span before it'),
    length: column('how long it took; -1: it is still running'),
    seq: column('the assistant message that it brought or whose call it is; -1: none'),
  }),
  requests: group('usage of the spans of kind 0, in their order', {
    input: column('input tokens, cached ones included'),
    cached: column('input tokens read from a cache'),
    output: column('output tokens'),
    cost: column('millionths of a US dollar'),
  }),
  waits: group('who waited for whom', {
    span: column('index of a span'),
    by: column('the agent that ended the wait or the rest; of an open one, each that is awaited'),
    at: column('when that agent had written or come to rest; -1: the wait continues'),
  }),
  mail: group('what was addressed to it', {
    number: column('counts from 1 per agent'),
    kind: column('kind of the mail, an index of `names`'),
    from: column('the sender; -1: a person'),
    sent: column('when it was sent'),
    read: column('when it was read; -1: unread'),
  }),
});

/** Times are milliseconds since `started_at`. */
export const timeline = z.strictObject({
  root_id: text('the root'),
  title: text('the first line of its task'),
  started_at: time('when the tree began; all other times are milliseconds since then'),
  now: number('the clock of the ledger'),
  after: text('`after` of the next request, which gets what changed from here on; empty after `agents`'),
  ids: z.array(z.string()).describe('agents of the tree, oldest first'),
  lanes: z.array(lane).describe('the agents asked for, oldest first'),
  names: z.array(z.string()).describe('words that the lanes refer to'),
  path: group('the critical path: what decided how long the tree took, oldest first', {
    agent: column('index of `ids`'),
    kind: column('as of spans'),
    start: column('when it began'),
    length: column('how long it took'),
  }),
  shares: list('how much of the critical path each agent had, the largest share first', {
    agent: number('index of `ids`'),
    share: number('0 to 1, of the critical path without rests'),
  }),
});

export const treeLetter = mail.extend({
  to_name: text('name of the agent'),
  read_at: maybeNumber('milliseconds since 1970; null while unread'),
});
