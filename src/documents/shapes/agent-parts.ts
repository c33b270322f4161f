import { z } from 'zod';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { STATUS_WORDS } from '../../render/agent-status.ts';
import {
  attached,
  completion,
  group,
  image,
  list,
  maybe,
  maybeGroup,
  maybeNumber,
  maybeTime,
  number,
  oneOf,
  outcome,
  text,
  texts,
  time,
  yes,
} from './document-parts.ts';

export const denied = list('calls that were denied, most of which the first rule would have allowed', {
  tool: text('the tool'),
  calls: number('calls'),
  allow: text('the rule with which `--allow` would have let them run').optional(),
  why: text('why no rule would have').optional(),
});
const deeds = z.strictObject({
  line: text('all of it in one line, as the agent that gets its result reads it'),
  calls: list('calls of tools; not those with which it works with other agents', {
    tool: text('the tool'),
    made: number('calls'),
    failed: number('calls without success'),
  }),
  files: texts('files that `write` and `patch` changed, and that git names for a worktree'),
  more_files: number('changed files that are not named'),
  commands: list('its newest shell commands', {
    command: text('the command; its beginning if it is long'),
    exit_code: maybeNumber('null: none, for example because it was stopped'),
  }),
  more_commands: number('commands before these'),
  children: number('agents that it created'),
  unanswered: number('how many of these had not answered when its turn ended'),
  missing_evidence: texts('evidence that its profile requires and that is missing'),
  denied: denied.describe('calls that were denied since a person last wrote to it'),
  tokens: number('input and output'),
  took_ms: maybeNumber('duration of its turn; null while it works'),
});

const amounts = z.strictObject({
  tokens: number('tokens, without input read from a cache'),
  usd: number('US dollars'),
});
const budgetAmounts = z.strictObject({
  tokens: maybeNumber('tokens, without input read from a cache'),
  usd: maybeNumber('US dollars'),
});

export const agent = z
  .strictObject({
    id: text('uuid'),
    name: text('its name; a root is called `main` unless it was named'),
    status: oneOf(
      'in one word; `unled`: there is something to do, and no process leads its tree',
      ...STATUS_WORDS,
      'unled',
    ),
    state: oneOf(
      'state of the kernel',
      ...([
        'idle',
        'waiting',
        'requesting',
        'executing',
        'awaiting',
        'cancelling',
        'errored',
        'completed',
        'failed',
        'killed',
      ] as const),
    ),
    parent_id: maybe('null for a root'),
    root_id: text('the root of its tree'),
    session_key: text('readable address'),
    title: maybe('of a root: the first line of its task, where the command looked it up'),
    depth: number('0 for a root'),
    origin: oneOf('how it was created', 'root', 'fork', 'spawn', 'session', 'delegate', 'cron'),
    user_initiated: yes('false for sub-agents with a task of their own'),
    label: maybe('label of its task'),
    profile: maybe('the profile that it was set up by'),
    worktree: maybeGroup('its git worktree', {
      branch: text('its branch'),
      path: text('its folder; removed once its result is in the ledger'),
    }),
    model: text('`provider/model`'),
    thinking: oneOf('its effort', 'off', 'low', 'medium', 'high'),
    tool_calls: number('calls made so far'),
    tokens: group('tokens used so far', {
      input: number('input, cached input included'),
      output: number('output, reasoning included'),
      cached: number('input read from a cache'),
      reasoning: number('output that was reasoning'),
    }),
    cost_usd: maybeNumber('US dollars so far; null where no price is known'),
    budget: maybeGroup('its own [budget](budgets.md), if it has one', {
      limit: budgetAmounts.describe('what it was given; null: no limit of its own'),
      spent: amounts.describe('what it and the agents below it have used'),
      left: budgetAmounts.describe('what is neither used nor set aside for agents below it'),
      until: maybeTime('when its time is over'),
    }),
    deeds: deeds
      .nullable()
      .describe('what it really did since it was last asked, counted by the runtime; null before that'),
    doing: maybe('one line on what it does now, for people'),
    held: maybeGroup('what keeps its model request from being sent, for a second or more', {
      text: text('for people, with the time left when it began'),
      until: maybeTime('when it is sent; null: when another request ends'),
    }),
    paused: maybeGroup(
      'set while its provider takes no requests, or a person has paused its workflow; the request waits in the ledger',
      {
        waits_for: text('for people: `anthropic’s quota`, or the command that lets the workflow go on'),
        spent: oneOf(
          'what has run out; `service`: nobody answers there; `person`: nothing',
          ...(['quota', 'credit', 'key', 'model', 'service', 'person'] as const),
        ),
        error: text('what the provider said, or who paused the workflow'),
        until: maybeTime('when it is tried again; null: when a person says so'),
        tries: number('tries since then, where the provider names no time; else 0'),
      },
    ),
    open_approvals: number('approvals and questions that it waits for'),
    last_reply: maybe('text of its last finished turn'),
    result: maybe('what it ended with, where its task has an end'),
    error: maybeGroup('why it failed', {
      kind: text('[kind of failure](#kinds-of-failure), or `killed`'),
      message: text('for people'),
      retryable: yes('the same may succeed later'),
    }),
    limit: maybe('the limit that ended its newest turn or run, although there is a reply'),
    started_at: time('when it was created'),
    updated_at: time('when something last happened to it'),
    ended_at: maybeTime('when it ended for good'),
    unled: maybeGroup('set while its tree stands still', {
      why: text('why no process leads its tree'),
      next: text('what would help'),
    }),
    ...outcome,
    pending_approval: maybe('id of the approval that it waits for; not in `coppice/run/v1`'),
  })
  .meta({ id: 'agent' });

export const limits = z.strictObject({
  depth: number('the deepest agent; the root has depth 0'),
  children: number('children of one agent at work when another is created'),
  live: number('agents of the tree at work when another is created'),
  total: number('agents ever created in the tree'),
  turns: number('model requests of one agent in one turn'),
  run_ms: number('time of one turn, in milliseconds'),
  tokens: maybeNumber('output, and input not read from a cache, of the tree; `null`: no limit'),
  cost_usd: maybeNumber('cost of the tree in US dollars; `null`: no limit ([prices](prices.md))'),
});

export const tree = z.strictObject({
  root_id: text('the root'),
  limits: limits
    .extend({
      usual: yes(
        'no limit on tokens or cost was set: both have their defaults ([budgets](budgets.md))',
      ).optional(),
      free: number('tokens of free models, which these defaults do not count; absent: none').optional(),
    })
    .describe('limits of the tree'),
  live: number('agents that have not ended'),
  total: number('agents ever created'),
  tokens: number('input and output so far'),
  cost_usd: number('US dollars so far, as far as prices are known'),
  cached: number(
    'tokens among these that no limit counts: read from a cache, or sent before to a server without one; absent: none',
  ).optional(),
  reserved: amounts.optional().describe('what is left of budgets that agents were given; absent: nothing'),
  cut: group('where it was cut from another tree ([going back](time-machine.md)); absent: it was not', {
    of: text('the root of the other tree'),
    at: number('what came later is not in it; milliseconds since 1970'),
    agent_id: text('of the message that was named, if one was').optional(),
    seq: number('its number').optional(),
  }).optional(),
});

export const mail = z.strictObject({
  id: text('uuid'),
  root_id: text('the tree'),
  to_id: text('the agent'),
  from_id: maybe('null: a person'),
  from_name: text('who wrote it'),
  kind: oneOf('what it is', 'letter', 'report', 'outcome', 'announce', 'task', 'control', 'event'),
  body: text('text; JSON for `report`, `outcome`, `announce` and `control`'),
  images: z.array(image).optional().describe('pictures'),
  did: text('what its sender had really done by then; on mail to its parent').optional(),
  attached: attached.optional(),
  completion: completion.exactOptional(),
  number: number('counts from 1 per agent'),
  sent_at: number('milliseconds since 1970'),
  consumed_seq: maybeNumber('null while unread, 0 if it was taken back before that'),
});

export const request = z.strictObject({
  model: text('`provider/model`'),
  usage: group('what it used', {
    input: number('input tokens, cached input included'),
    output: number('output tokens, reasoning included'),
    cached: number('input read from a cache'),
    reasoning: number('output that was reasoning'),
    cost_usd: maybeNumber('US dollars; null where no price is known'),
  }),
  started_at: number('milliseconds since 1970'),
  duration_ms: number('until the answer was complete'),
});

/** A message as a model sees it. */
export const promptMessage = z.strictObject({
  number: number('counts from 1'),
  role: oneOf('who speaks; `results`: of the calls before it', 'user', 'assistant', 'results'),
  shared: yes('shared with an ancestor'),
  from: number('bytes of all messages before it'),
  bytes: number('its texts, and its pictures as base64'),
  blocks: list('its parts', {
    type: oneOf('what it is', 'text', 'reasoning', 'call', 'result'),
    name: maybe('the tool of a call or a result'),
    text: text('the text; of a call, its arguments'),
    images: number('pictures beside it, which are left out here'),
    bytes: number('of the text and the pictures'),
  }),
});

/** A tree in a list. */
export const treeRow = z.strictObject({
  root_id: text('the root'),
  name: text('name of the root'),
  title: text('the first line of its task'),
  status: agent.shape.status.describe('of the root'),
  need: oneOf(
    'why it needs attention: it waits for an approval; it failed or no process leads it; it is at work; nothing',
    'approval',
    'trouble',
    'work',
    'done',
  ),
  origin: agent.shape.origin,
  model: text('`provider/model` of the root'),
  profile: maybe('profile of the root'),
  cwd: text('its folder'),
  doing: maybe('one line on what the root does now'),
  agents: number('agents ever created'),
  living: number('agents that have not ended'),
  working: number('agents at work'),
  approvals: number('approvals that wait for an answer'),
  asked_at: maybeTime('since when the oldest of them waits'),
  asked: maybe('what the oldest of them is about, at most 200 characters'),
  tokens: number('input and output so far'),
  cost_usd: number('US dollars so far, as far as prices are known'),
  error: agent.shape.error,
  unled: agent.shape.unled,
  ...outcome,
  started_at: time('when it began'),
  updated_at: time('when something last happened'),
  ended_at: maybeTime('when the root ended for good'),
});

export type TreeRow = z.infer<typeof treeRow>;
export type AgentDocument = DeepReadonly<z.infer<typeof agent>>;
