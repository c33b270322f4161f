import { z } from 'zod';
import { agent, denied, mail, tree } from './agent-parts.ts';
import {
  type DocumentShapes,
  error,
  group,
  list,
  maybe,
  maybeGroup,
  maybeNumber,
  number,
  oneOf,
  outcome,
  text,
  texts,
  time,
  yes,
} from './document-parts.ts';

const exportedTree = z.strictObject({
  root_id: text('the root'),
  title: text('the first line of its task'),
  exported_at: time('when it was written'),
  documents: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .describe('what `GET` answers, by path; of messages, those that the agent did not inherit, as one page'),
});

/** A call that changed a file. */
const fileChange = {
  agent_id: text('the agent that made the call'),
  agent: text('its name'),
  root_id: text('its tree'),
  seq: number('of the message with the result'),
  call_id: text('of the call'),
  tool: text('`write` or `patch`'),
  at: time('when it was recorded'),
  prompt: maybe('first line of what the agent had been told to do'),
};

export type ExportedTree = z.infer<typeof exportedTree>;

/** Documents that commands print about agents and their trees. */
export const TREE_DOCUMENTS = {
  'coppice/run/v1': {
    by: ['run', 'resume', 'demo', 'cron run'],
    shape: z.strictObject({
      id: text('the root'),
      ...outcome,
      status: oneOf(
        '`stopped`: by a signal, `--timeout`, or a provider that takes no requests; nothing is lost',
        'done',
        'failed',
        'stopped',
      ),
      reply: maybe('the last reply of the root'),
      error: error
        .nullable()
        .describe(
          '`code` is a [kind of failure](#kinds-of-failure); of a stopped run `timed_out`, `interrupted` or `paused`',
        ),
      limit: z
        .string()
        .nullable()
        .optional()
        .describe('the limit that ended the turn although there is a reply; not of a stopped run'),
      usage: group('of the whole tree; not of a stopped run', {
        input: number('input tokens'),
        output: number('output tokens'),
      }).optional(),
      denied: group('calls of all agents, since a person last wrote to them', {
        calls: number('calls that were denied'),
        rules: denied,
      }),
      agents: z.array(agent).optional().describe('all agents of the tree; not of a stopped run'),
    }),
  },
  'coppice/entered/v1': {
    by: ['run --detach'],
    shape: z.strictObject({ id: text('the root; coppice serve or a worker leads it') }),
  },
  'coppice/hook/v1': {
    shape: z.strictObject({
      hook: text('its name in the configuration'),
      outcome: oneOf(
        '`sent`: a message to the tree of its key; `repeated`: this delivery has been here before; `filtered`: not for this hook',
        'started',
        'sent',
        'repeated',
        'filtered',
      ),
      root_id: maybe('the root of the tree; null for `filtered`'),
      text: text('the same in words'),
    }),
  },
  'coppice/export/v1': { by: ['export'], shape: exportedTree },
  'coppice/agents/v1': {
    by: ['ps'],
    shape: z.strictObject({
      agents: z.array(agent).describe('oldest first'),
      hidden: number('sub-agents of tasks that were left out'),
      approvals: number('approvals that wait for an answer'),
    }),
  },
  'coppice/blame/v1': {
    by: ['blame'],
    shape: z.strictObject({
      path: text('of the file, absolute'),
      whole: yes('no change had to be left out because its resulting text is unknown'),
      changes: list('calls that wrote lines which are still there', fileChange),
      lines: list('all lines, or the one that was asked about', {
        line: number('counted from 1'),
        text: text('its text'),
        source: oneOf(
          '`before`: it was there before the first change that the ledger knows; `outside`: written later, by no recorded call',
          'agent',
          'before',
          'outside',
        ),
        change: maybeNumber('place in `changes`, counted from 0; null unless by an agent'),
      }),
    }),
  },
  'coppice/files/v1': {
    shape: z.strictObject({
      root_id: text('the root'),
      total: number('files that agents of the tree changed with `write` and `patch`'),
      files: list('by path', {
        path: text('absolute'),
        name: text('the same, as seen from the folder of the first agent that changed it'),
        diff: maybe(
          'all changes of the tree as one unified diff; null: a text is not known, something else changed the file in between, or it is too large',
        ),
        changes: list('calls that changed it, the earliest first', {
          ...fileChange,
          diff: maybe('what the call changed; null: not known, or too large'),
        }),
        blame: list('who wrote the lines of the last text, if `diff` is there', {
          from: number('first line, counted from 1'),
          to: number('last line'),
          change: number('place in `changes`, counted from 0'),
        }),
      }),
      next: maybe('`after` of the next page; null: there is none'),
    }),
  },
  'coppice/tree/v1': {
    by: ['tree'],
    shape: z.strictObject({
      root_id: text('the root'),
      title: text('the first line of its task'),
      cwd: text('folder of the root'),
      ...outcome,
      tree: tree.describe('its counters'),
      agents: z.array(agent).describe('oldest first'),
    }),
  },
  'coppice/tasks/v1': {
    by: ['tasks'],
    shape: z.strictObject({
      root_id: text('the root'),
      tasks: list('by number', {
        number: number('within its tree, from 1'),
        title: text('what is to be done'),
        depends_on: z.array(z.number()).describe('tasks that must be done before'),
        state: oneOf('`blocked`: it waits for others', 'open', 'blocked', 'claimed', 'done'),
        agent_id: maybe('who claimed it, or finished it'),
        agent_name: maybe('its name'),
        result: maybe('its result'),
        added_by: text('the agent that added it'),
        added_at: time('when it was added'),
        changed_at: time('when it changed last'),
      }),
    }),
  },
  'coppice/agent/v1': {
    by: ['show'],
    like: 'agent',
    shape: z.strictObject({
      tree_title: text('the first line of the task of its tree'),
      parent_name: maybe('name of its parent'),
      cwd: text('its folder'),
      forked_from: maybeGroup('where its history begins', {
        agent_id: text('the ancestor'),
        seq: number('its last message that was inherited'),
      }),
      messages: number('messages of its history'),
      checkpoints: number('how often a summary took the place of the older part for its model'),
      requests: number('model requests'),
      pending_mail: z.array(mail).describe('unread mail'),
      children: texts('ids, newest first'),
      child_names: texts('their names'),
    }),
  },
  'coppice/mail/v1': {
    by: ['send'],
    shape: z.strictObject({
      id: text('of the letter'),
      to: text('the agent'),
      number: number('counts from 1 per agent'),
      running: yes('a process leads the agent now'),
    }),
  },
  'coppice/wait/v1': {
    by: ['wait'],
    shape: z.strictObject({
      results: list('one for each agent', {
        agent_id: text('uuid'),
        root_id: text('the root of its tree'),
        name: text('its name'),
        status: oneOf('its status', 'running', 'idle', 'dead'),
        last_reply: maybe('text of its last finished turn'),
        error: text('why it failed').optional(),
        limit: text('the limit that ended its turn').optional(),
        did: text('what it really did since it was last asked, in one line').optional(),
        unled: agent.shape.unled,
        ...outcome,
      }),
      timed_out: z.literal(true).optional().describe('only if some are still at work; exit code 5'),
    }),
  },
  'coppice/kill/v1': {
    by: ['kill'],
    shape: z.strictObject({ killed: texts('ids of all that were ended') }),
  },
  'coppice/rewind/v1': {
    by: ['rewind'],
    shape: z.strictObject({
      root_id: maybe('the root of the new tree; null: nothing was done, only shown'),
      of: text('the root of the tree that it was cut from'),
      at: time('what came later is not in it'),
      agents: list('its agents', {
        id: maybe('its id'),
        was: text('its id in the other tree, by which the other agents of the new one know it, too'),
        name: text('its name'),
        state: text('its state'),
        messages: number('messages of its conversation that are kept'),
        later: number('messages of the other tree that are not'),
        interrupted: texts('tools whose calls had begun and had no result: they are not run again'),
      }),
      born_later: texts('names of the agents that are not in it'),
      letters: number('letters that were on their way, and are again'),
      files: list('files that `write` and `patch` changed since, and nobody else', {
        path: text('where it is'),
        restored: yes('whether it has the content of then now'),
      }),
      difference: texts('lines of the differences to the files of then'),
      not_undone: texts('what stays as it is now, and why'),
      edited: maybeGroup('the message that is another one', {
        name: text('name of its agent'),
        seq: number('its number'),
      }),
    }),
  },
  'coppice/merge/v1': {
    by: ['merge'],
    shape: z.strictObject({
      folder: text('the top folder of the repository'),
      branch: text('the branch that is checked out there'),
      test: maybe('the command that was run after each merge'),
      merges: list('in the order of the arguments', {
        agent_id: text('its id'),
        name: text('its name'),
        branch: text('its branch'),
        status: oneOf('the outcome', 'merged', 'unchanged', 'conflict', 'test_failed', 'failed'),
        commit: maybe('the merge'),
        files: texts('those in conflict'),
        error: maybe('why it was not merged'),
        sent_to: maybe('id of the agent that was told of a conflict or a failed test'),
      }),
    }),
  },
} as const satisfies DocumentShapes;
