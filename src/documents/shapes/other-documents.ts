import { z } from 'zod';
import {
  approval,
  type DocumentShapes,
  delivery,
  grantedRule,
  group,
  job,
  jobRun,
  list,
  maybe,
  maybeNumber,
  number,
  oneOf,
  profile,
  run,
  text,
  texts,
  time,
  worker,
  yes,
} from './document-parts.ts';

const rows = (...names: readonly string[]) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, number(`rows of ${name}`)])));

const SET_ASIDE = { name: text('its own'), why: text('the end of a sentence') };

/** Documents that commands print about everything but agents. */
export const OTHER_DOCUMENTS = {
  'coppice/approvals/v1': {
    by: ['approvals list'],
    shape: z.strictObject({
      approvals: z
        .array(
          approval.extend({
            short_id: text('the beginning of its id, as long as no other in the ledger begins like it'),
            lineage: texts('names from the root down to the agent that asks'),
            offered_rule: maybe(
              'the rule to offer for an `allow`: the narrowest that is of use for other calls, too',
            ),
            rules: texts(
              'rules that an `allow` could grant, from narrow to wide; none if it is unclear what would run',
            ),
          }),
        )
        .describe('unanswered, oldest first'),
      open: number('how many are unanswered, those of other pages included'),
      next: maybe('`after` of the next page; null: there is none'),
    }),
  },
  'coppice/approval/v1': { by: ['approvals allow', 'approvals deny'], like: 'approval' },
  'coppice/rules/v1': {
    by: ['approvals rules list'],
    shape: z.strictObject({
      file: text('where rules that are granted for good are kept'),
      rules: z.array(grantedRule).describe('those of the ledger, oldest first, then those of the file'),
    }),
  },
  'coppice/rule/v1': { by: ['approvals rules remove'], like: 'granted_rule' },
  'coppice/replay/v1': {
    by: ['replay'],
    shape: z.strictObject({
      file: text('the case'),
      recorded_by: text('version that recorded it'),
      recorded_at: text('ISO 8601'),
      requests: number('requests that were made'),
      divergences: z
        .array(
          z.strictObject({
            agent: text('names from the root to the agent'),
            request: number("number of the agent's request, from 1"),
            what: text('what differs: `system text`, `tool NAME`, `message N`, `order`, `reply`'),
            recorded: text('what was recorded'),
            now: text('what is today'),
          }),
        )
        .describe('in the order in which they were met; empty: none'),
      updated: yes('whether the file now holds what is sent today'),
    }),
  },
  'coppice/subagent-runs/v1': {
    by: ['subagent list', 'subagent history'],
    shape: z.strictObject({
      runs: z.array(run).describe('`list`: oldest first; `history`: newest first'),
      unled: texts('those at work that no process leads now'),
    }),
  },
  'coppice/subagent-run/v1': {
    by: ['subagent show', 'subagent cancel'],
    like: 'run',
    shape: z.strictObject({ has_conversation: yes('its conversation was not deleted') }),
  },
  'coppice/cron-jobs/v1': {
    by: ['cron list'],
    shape: z.strictObject({ jobs: z.array(job).describe('all jobs') }),
  },
  'coppice/cron-job/v1': {
    by: ['cron add', 'cron show', 'cron update', 'cron enable', 'cron disable', 'cron rm'],
    like: 'job',
    shape: z.strictObject({ removed: z.literal(true).optional().describe('only of `cron rm`') }),
  },
  'coppice/cron-runs/v1': {
    by: ['cron runs'],
    shape: z.strictObject({
      job: text('id of the job'),
      runs: z.array(jobRun).describe('newest first'),
    }),
  },
  'coppice/cron-fired/v1': {
    by: ['cron run --detach'],
    shape: z.strictObject({
      job: text('id of the job'),
      outcome: oneOf('the outcome', 'fired', 'queued', 'skipped'),
      root_id: maybe('the tree that was started'),
    }),
  },
  'coppice/deliveries/v1': {
    by: ['deliveries list'],
    shape: z.strictObject({ deliveries: z.array(delivery).describe('newest first') }),
  },
  'coppice/deliveries-retried/v1': {
    by: ['deliveries retry'],
    shape: z.strictObject({ retried: number('how many are retried') }),
  },
  'coppice/alerts/v1': {
    shape: z.strictObject({
      file: maybe('the configuration, which has them under `alerts`; null: there is none'),
      rules: z.array(
        z.strictObject({
          when: oneOf('the condition', 'tree-failed', 'waits-for-person', 'cost', 'worker-gone'),
          after_minutes: maybeNumber('of `waits-for-person`: how long a call may wait'),
          usd: maybeNumber('of `cost`: US dollars of one tree'),
          to: texts('targets that are told'),
        }),
      ),
    }),
  },
  'coppice/workers/v1': {
    by: ['worker list'],
    shape: z.strictObject({
      workers: z.array(worker).describe('oldest first'),
    }),
  },
  'coppice/worker-drained/v1': {
    by: ['worker drain'],
    shape: z.strictObject({
      id: text('the worker that was told'),
      host: text('its machine'),
      pid: number('its process'),
    }),
  },
  'coppice/gc/v1': {
    by: ['gc'],
    shape: z.strictObject({
      dry_run: yes('nothing was removed'),
      before: time('what is older counts as old'),
      archive: maybe('the file; null without one'),
      removed: rows(
        'trees',
        'agents',
        'messages',
        'mail',
        'requests',
        'asks',
        'runs',
        'deliveries',
        'fires',
      ).describe('rows of each kind'),
      resumed: number('trees whose removal was cut short earlier'),
      trees: list('trees that were old, oldest first', {
        root_id: text('the root'),
        name: text('its name'),
        status: text('state of the root'),
        last_at: time('when something last happened to the root'),
      }),
      output: group('spilled output', {
        files: number('files of spilled output'),
        bytes: number('their size'),
      }),
      worktrees: list('git worktrees in which no agent works any more', {
        path: text('its folder'),
        branch: text('its branch'),
        agent_id: maybe('the oldest agent that worked in it; null: none in this ledger'),
        name: maybe('its name'),
        kept: maybe('why it stays; null: it was removed, or would be'),
        merge: text('the command that merges its branch'),
        remove: text('the command that removes its folder, whatever is in it'),
      }),
    }),
  },
  'coppice/profiles/v1': {
    by: ['profiles'],
    shape: z.strictObject({
      profiles: z
        .array(profile.extend({ trusted: yes('false: a file of the folder that you have not accepted') }))
        .describe('each with the keys of a [profile](#profile), and `trusted`'),
      notices: texts('what is wrong with files that were left out'),
    }),
  },
  'coppice/trust/v1': {
    by: ['trust'],
    shape: z.strictObject({
      folder: text('the folder'),
      trusted: yes('whether it is trusted now'),
      revoked: yes('of `--revoke`: it was trusted before').optional(),
      hash: text('of its files').optional(),
      files: z.array(z.string()).optional().describe('its files'),
      profiles: z.array(profile).optional().describe('what they say'),
      notices: z.array(z.string()).optional().describe('what is wrong with them'),
    }),
  },
  'coppice/mcp-servers/v1': {
    by: ['mcp list'],
    shape: z.strictObject({
      servers: list('those of the configuration first', {
        name: text('its name, with which the names of its tools begin'),
        source: text('`config`, or the file that brings it'),
        state: oneOf(
          '`untrusted`, `changed`: its file waits for `coppice trust`; `hidden`: the configuration has one of that name',
          'used',
          'untrusted',
          'changed',
          'hidden',
        ),
        command: maybe('the program'),
        args: texts('its arguments'),
        url: maybe('the address'),
        set_aside: list('tools that could not be offered to models when it was last started', SET_ASIDE),
      }),
      notices: texts('what in the folder cannot be used'),
    }),
  },
  'coppice/mcp-test/v1': {
    by: ['mcp test'],
    shape: z.strictObject({
      ok: yes('every server answered'),
      servers: list('those that were asked for', {
        name: text('its name'),
        ok: yes('it answered'),
        error: maybe('why it did not answer, as a predicate without its subject'),
        server: maybe('what it says of itself'),
        protocol: maybe('the version of the protocol'),
        tools: list('in its order', { name: text('as models see it'), description: text('on one line') }),
        set_aside: list('tools that cannot be offered to models', SET_ASIDE),
        duration_ms: number('from its start to its tools'),
      }),
    }),
  },
  'coppice/mcp-login/v1': {
    by: ['mcp login'],
    shape: z.strictObject({ name: text('its name'), logged_in: yes('there is a login now') }),
  },
  'coppice/mcp-server/v1': {
    by: ['mcp add'],
    shape: z.strictObject({ name: text('its name'), file: text('the configuration') }),
  },
  'coppice/doctor/v1': {
    by: ['doctor'],
    shape: z.strictObject({
      healthy: yes('nothing needed is missing'),
      checks: list('in order', {
        name: text('what was checked'),
        ok: yes('the check passed'),
        needed: yes('false: optional'),
        text: text('what was found'),
      }),
    }),
  },
} as const satisfies DocumentShapes;
