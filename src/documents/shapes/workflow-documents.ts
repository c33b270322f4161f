import { z } from 'zod';
import { agent } from './agent-parts.ts';
import {
  type DocumentShapes,
  group,
  list,
  maybe,
  maybeNumber,
  maybeTime,
  number,
  oneOf,
  outcome,
  text,
  time,
  yes,
} from './document-parts.ts';

const used = {
  tokens: number('tokens of all its agents, with those below them'),
  cost_usd: maybeNumber('US dollars, likewise; null where no price is known'),
};

const counts = group('what has become of its agents', {
  succeeded: number('ended well'),
  failed: number('failed, were cut short or declined; with calls that were refused'),
  skipped: number('ended by a person, or by the end of the script'),
  reused: number('not started: an earlier run had the result'),
  running: number('at work, or waiting'),
});

/** A run in a list. */
const workflowRun = {
  id: text('the agent that is the run'),
  root_id: text('its tree; a run that an agent started is in the tree of that agent'),
  name: text('name of the workflow'),
  description: text('what it says that it does'),
  status: agent.shape.status,
  ...outcome,
  counts,
  started_at: time('when it began'),
  ended_at: maybeTime('when it ended; null while it goes on'),
};

/** Documents about workflows (docs/workflows.md). */
export const WORKFLOW_DOCUMENTS = {
  'coppice/workflows/v1': {
    by: ['workflow list'],
    shape: z.strictObject({
      workflows: list('saved workflows that a folder can use, by name', {
        name: text('its name'),
        path: text('file of the script'),
        description: maybe('null if it cannot run'),
        when_to_use: maybe('if it says so'),
        error: maybe('why it cannot run'),
      }),
    }),
  },
  'coppice/workflow-check/v1': {
    by: ['workflow check'],
    shape: z.strictObject({
      name: text('its name'),
      description: text('what it says that it does'),
      path: maybe('file of the script; null if its text was given'),
      agents: number('agents that it starts with invented results'),
      calls: number('calls of all kinds'),
      depth: number('the longest chain of calls of which each needs the one before'),
      phases: list('in their order', {
        title: maybe('null: without a phase'),
        agents: number('its agents'),
      }),
      notices: z.array(z.string()).describe('what is not understood, with its line'),
      end: z
        .looseObject({
          type: oneOf('`bounded`: it goes on', 'done', 'failed', 'stuck', 'waiting', 'bounded'),
        })
        .describe('how it ends: `done` has `result`, `failed` has `failure`'),
    }),
  },
  'coppice/workflow-run/v1': {
    by: ['workflow show'],
    shape: z.strictObject({
      ...workflowRun,
      ...used,
      paused: maybe('who has paused or stopped it; null: nobody'),
      failure: maybe('what failed below it, which makes it no success even if its script returned'),
      result: maybe('its last text'),
      phases: list('as `meta` names them, then in the order of their first agents', {
        title: maybe('null: agents without a phase'),
        detail: maybe('what `meta` says of it'),
        agents: number('agents that it has'),
        done: number('those that ended well'),
        failed: number('those that failed, were cut short or declined'),
        skipped: number('those that were ended'),
        ...used,
        started_at: maybeTime('when its first agent was created; null: none yet'),
        ended_at: maybeTime('when its last agent ended; null while one is at work'),
      }),
      refused: list('calls that started nothing', {
        label: text('its label, or the beginning of its prompt'),
        phase: maybe('the phase'),
        reason: text('why'),
      }),
      agents: list('what the script started, failures first', {
        id: text('the agent'),
        label: text('its label, else its name'),
        kind: oneOf('a workflow has agents of its own', 'agent', 'workflow', 'ask'),
        phase: maybe('the phase'),
        status: agent.shape.status,
        ...outcome,
        error: maybe('why it failed'),
        tokens: number('with those of the agents below it'),
        cost_usd: maybeNumber('US dollars, likewise'),
        started_at: time('when it was created'),
        ended_at: maybeTime('when it ended'),
      }),
    }),
  },
  'coppice/workflow-runs/v1': {
    by: ['workflow list --runs'],
    shape: z.strictObject({ runs: list('newest first', workflowRun) }),
  },
  'coppice/workflow-script/v1': {
    shape: z.strictObject({
      id: text('the run'),
      name: text('name of the workflow'),
      script: text('the whole script, as the run began with it'),
      args: maybe('JSON of the value that it sees as `args`; null if none was given'),
      calls: number('maximum calls of `agent()`'),
    }),
  },
  'coppice/workflow-order/v1': {
    by: ['workflow pause', 'workflow stop', 'workflow skip', 'workflow retry', 'workflow resume'],
    shape: z.strictObject({
      run: text('the run'),
      root_id: text('its tree'),
      name: text('its name'),
      ordered: oneOf('what it was told', 'pause', 'stop', 'resume', 'skip', 'retry'),
      agent: maybe('the agent that is skipped or run again; null: the whole run'),
      led: yes('a process leads it now'),
    }),
  },
  'coppice/workflow-mail/v1': {
    by: ['workflow send'],
    shape: z.strictObject({
      run: text('the run'),
      to: list('whom it went to', { id: text('the agent'), label: text('its label') }),
    }),
  },
  'coppice/workflow-saved/v1': {
    by: ['workflow save'],
    shape: z.strictObject({
      run: text('the run'),
      name: text('name of the workflow'),
      path: text('its file'),
    }),
  },
} as const satisfies DocumentShapes;
