import { z } from 'zod';
import { mail, promptMessage, request, treeRow } from './agent-parts.ts';
import {
  type DocumentShapes,
  list,
  maybe,
  maybeGroup,
  maybeNumber,
  maybeTime,
  number,
  oneOf,
  text,
  texts,
  time,
  yes,
} from './document-parts.ts';
import { message } from './message-lines.ts';
import { timeline, treeLetter } from './timeline-document.ts';

const used = request.shape.usage.extend({ requests: number('model requests') });

/** Usage of all model requests in the ledger over a range of days. */
export const usage = z.strictObject({
  complete: yes('false while the server still reads history: ask again'),
  total: used.describe('of all these days'),
  by_day: z.array(used.extend({ day: text('`2026-01-31`, in UTC') })).describe('every day, oldest first'),
  by_model: z
    .array(used.extend({ model: text('`provider/model`') }))
    .describe('the 50 most expensive first; the same for profiles, trees and agents'),
  by_profile: z.array(used.extend({ profile: maybe('null: agents without one') })).describe('by profile'),
  by_tree: z
    .array(
      used.extend({
        root_id: text('the tree'),
        title: maybe('the first line of its task; null: it was removed'),
      }),
    )
    .describe('by tree'),
  by_agent: z
    .array(used.extend({ agent_id: text('the agent'), name: maybe('its name; null: it was removed') }))
    .describe('by agent, each without those below it'),
});

/** Usage of trees over time, as the bars of a small chart. */
export const activity = z.strictObject({
  complete: usage.shape.complete,
  trees: list('ordered by their latest activity, the newest last', {
    root_id: text('the tree'),
    begins_at: time('where the first bar begins'),
    bar_ms: number('milliseconds of a bar'),
    tokens: z.array(z.number()).describe('input and output of each bar; at most 24'),
  }),
});

const range = z.strictObject({ usual: number('the median'), most: number('nine of ten used at most that') });

/** Expected usage of an agent. */
const estimate = z.strictObject({
  profile: maybe('null: agents without one'),
  model: text('`provider/model`'),
  line: text('all of it in one line'),
  estimate: maybeGroup('null: there were too few', {
    agents: number('how many it is based on; at most the newest 200'),
    tokens: range.describe('output, and input not read from a cache'),
    usd: range.nullable().describe('US dollars; null: their price is unknown'),
    seconds: range.describe('from the first request of an agent to the end of its last'),
  }),
});

const spending = z.strictObject({
  holder: text(
    'whose budget it is: of the agent itself, or the nearest one above it; the root if it is that of the tree',
  ),
  of_tree: yes('it is the limit of the tree'),
  limit: maybeNumber('null: no limit'),
  spent: number('what the holder and all below it have used'),
  reserved: number('what is left of budgets that agents below it were given'),
  left: maybeNumber('what is neither used nor set aside; null: no limit'),
});

/** Documents of the server; commands print only a few of them. */
export const SERVER_DOCUMENTS = {
  'coppice/trees/v1': {
    shape: z.strictObject({ trees: z.array(treeRow).describe('newest first') }),
  },
  'coppice/cron-next/v1': {
    shape: z.strictObject({
      job: text('uuid'),
      instants: z
        .array(z.iso.datetime())
        .describe('when it is due next, soonest first; none while it is disabled'),
    }),
  },
  'coppice/messages/v1': {
    shape: z.strictObject({
      agent_id: text('the agent'),
      messages: z.array(message).describe('oldest first'),
      next: maybeNumber('`after` of the next page; null: there is none'),
    }),
  },
  'coppice/search/v1': {
    by: ['search'],
    shape: z.strictObject({
      complete: yes('false while older conversations are still indexed: ask again'),
      hits: list('messages with all the words, newest first', {
        root_id: text('the tree'),
        title: text('the first line of its task'),
        agent_id: text('the agent that the message belongs to'),
        agent: text('its name'),
        seq: number('of the message'),
        kind: oneOf('of the message', 'user', 'assistant', 'result', 'event', 'capture'),
        at: time('when it was recorded'),
        text: text('what stands around the first place, in one line'),
      }),
      next: maybe('`before` of the next page; null: there is none'),
    }),
  },
  'coppice/prompt/v1': {
    shape: z.strictObject({
      agent_id: text('the agent'),
      system: text('its system prompt'),
      total: number('messages of the prompt'),
      bytes: number('of all of them'),
      shared: number('leading messages that are shared with an ancestor, byte for byte'),
      shared_bytes: number('of these'),
      messages: z.array(promptMessage).describe('oldest first'),
      next: maybeNumber('`after` of the next page; null: there is none'),
    }),
  },
  'coppice/mailbox/v1': {
    shape: z.strictObject({ agent_id: text('the agent'), mail: z.array(mail).describe('oldest first') }),
  },
  'coppice/requests/v1': {
    shape: z.strictObject({
      agent_id: text('the agent'),
      requests: z.array(request).describe('oldest first'),
      next: z.number().int().nullable().describe('`after` of the next page; null: there is none'),
    }),
  },
  'coppice/timeline/v1': { shape: timeline },
  'coppice/tree-mail/v1': {
    shape: z.strictObject({
      root_id: text('the root'),
      mail: z.array(treeLetter).describe('oldest first'),
      next: z.string().nullable().describe('`after` of the next page; null: there is none'),
    }),
  },
  'coppice/usage/v1': { by: ['usage'], shape: usage },
  'coppice/estimates/v1': {
    by: ['run --dry-run'],
    shape: z.strictObject({
      estimates: z.array(estimate).describe('of an agent as it was asked for, then of one of each profile'),
    }),
  },
  'coppice/budget/v1': {
    by: ['budget'],
    shape: z.strictObject({
      agent_id: text('the agent'),
      name: text('its name'),
      root_id: text('its tree'),
      usd: spending.describe('US dollars'),
      tokens: spending.describe('output, and input not read from a cache'),
      until: maybeTime('when its time is over; null: no budget on its path limits it'),
    }),
  },
  'coppice/activity/v1': { shape: activity },
  'coppice/child/v1': { like: 'agent' },
  'coppice/ordered/v1': {
    shape: z.strictObject({
      to: text('the agent'),
      running: yes('a process leads the agent now'),
    }),
  },
  'coppice/resumed/v1': {
    shape: z.strictObject({
      root_id: text('the root'),
      agents: texts('agents that this server leads now'),
      elsewhere: number('agents that another living process leads; they continue there'),
      broken: list('agents that could not be restored', {
        agent_id: text('the agent'),
        name: text('its name'),
        reason: text('why'),
      }),
      tried: list('agents whose provider took no requests, and that ask it again now', {
        agent_id: text('the agent'),
        updated_at: time('when something had last happened to it before'),
      }),
    }),
  },
  'coppice/login-link/v1': {
    by: ['web'],
    shape: z.strictObject({
      url: text('signs a browser in, once, within a minute'),
      scope: oneOf('what the session may do', 'read', 'write'),
      expires_at: time('when it expires'),
    }),
  },
  'coppice/signed-in/v1': {
    shape: z.strictObject({
      key: text('sent with every request of this session as the header `coppice-key`, beside its cookie'),
    }),
  },
  'coppice/session/v1': {
    shape: z.strictObject({
      scope: oneOf('what this token or session may do', 'read', 'write'),
      version: text('of the server'),
      models: texts('that its configuration knows; others can be named, too'),
      profiles: texts('that agents can begin with'),
    }),
  },
  'coppice/logged-out/v1': {},
} as const satisfies DocumentShapes;
