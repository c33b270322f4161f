import * as z from 'zod';
import type { Agent } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { taskTerms } from '../../records/agent/task-terms.ts';
import type { NewAgent } from '../../records/run/new-agent.ts';
import { wholeMilliseconds } from '../../records/text/parse-duration.ts';
import { storable } from '../../records/text/text.ts';
import type { Consequence } from '../transition/event.ts';
import { name, type Refused, refuse, settle, text } from './acts/agent-reference.ts';
import { childConfig } from './acts/child-config.ts';
import { exceededCreationLimit } from './acts/creation-limits.ts';
import { isolatedChild } from './acts/new-child.ts';
import { checkTask, modelOf, needsOf, taskOptions } from './acts/task-options.ts';
import { checkedTool, MAX_TASK_SECONDS } from './arguments.ts';
import type { Decision, Toolset, ToolsetTool, ToolsetView } from './toolset.ts';
import type { ToolsetTerms } from './toolset-terms.ts';

/**
 * The toolset `sessions`: `sessions_spawn` starts a background run in a session of its own and returns immediately; its end is announced in the
 * requester's session. Runs beyond the limit of concurrent ones are queued.
 */

const spawnInput = z.strictObject({
  task: text('the task').describe('The task for the subagent to complete'),
  label: name('optional').nullish().describe("Optional label for tracking (e.g., 'research', 'analysis')"),
  model: z.string().min(1).nullish().describe('Optional model override as provider/model'),
  thinking: z
    .enum(['off', 'low', 'medium', 'high'])
    .nullish()
    .describe("Optional thinking level ('off', 'low', 'medium', 'high')"),
  timeoutSeconds: z
    .int()
    .min(0)
    .max(MAX_TASK_SECONDS)
    .nullish()
    .describe('Max runtime in seconds (0 = no limit of its own)'),
  cleanup: z
    .enum(['delete', 'keep'])
    .nullish()
    .describe('Whether to delete subagent session after completion'),
  deliver: z
    .union([z.string().min(1), z.array(z.string().min(1)).max(8)])
    .nullish()
    .describe('Channels that get the result too'),
  ...taskOptions,
});

export type Spawn = z.infer<typeof spawnInput>;

function forbidden(refused: string): Decision {
  const output = JSON.stringify({ status: 'forbidden', error: refused });
  return { type: 'settle', output, refused, consequences: [] };
}

/** Roots and their forks. */
const audience: ToolsetTool['audience'] = (config) => config.task === undefined;

const spawn = checkedTool({
  name: 'sessions_spawn',
  description:
    'Spawn a background sub-agent run in an isolated session. It sees nothing of this conversation: its task says all that it must know. Results are announced back when complete.',
  schema: spawnInput,
  audience,
  creates: true,
  needs: (options, call, self, terms) => needsOf(options, call.id, self, modelFor(options, terms)),
  decode(options, call, view) {
    if (view.self.session_key.includes(':subagent:') || view.self.config.task !== undefined)
      return forbidden('sessions_spawn is not allowed from sub-agent sessions');
    const { allow_agents } = view.terms.subagents;
    // Checked first, so that nothing is revealed about a profile outside the list.
    const agent_id = options.profile ?? 'main';
    if (allow_agents !== null && !allow_agents.includes(agent_id))
      return forbidden(`agent "${agent_id}" is not allowed; allowed: ${allow_agents.join(', ') || 'none'}`);
    const reached = exceededCreationLimit(view);
    if (reached !== null) return refuse('LIMIT_REACHED', reached);
    const planned = planRun(options, agent_id, call.id, modelFor(options, view.terms), view);
    if (planned.type === 'refuse') return planned;
    const { run_id: runId, session_key: sessionKey, consequences } = planned;
    const limit = options.timeoutSeconds ? { timeoutSeconds: options.timeoutSeconds } : {};
    const output = JSON.stringify({ status: 'accepted', runId, sessionKey, ...limit });
    return { type: 'settle', output, consequences };
  },
});

/** Background runs of the caller that have not ended; before its first turn, a run is at rest. */
function openRuns({ self, subtree, now }: ToolsetView) {
  return subtree(self).flatMap(
    ({ id, parent_id, origin, name: label, session_key: key, config: { task }, state }) => {
      if (parent_id !== self.id || origin !== 'session' || isTerminal(state.type)) return [];
      const seconds = 'turn' in state ? Math.round((now - state.turn.started_at) / 1000) : 0;
      return [
        {
          id,
          key,
          runId: task?.run_id,
          label,
          status: state.type === 'idle' ? 'queued' : 'running',
          seconds,
        },
      ];
    },
  );
}

const runs = { audience, surveys: true } as const;

const list = checkedTool({
  ...runs,
  name: 'sessions_list',
  description: 'List your background runs that have not ended.',
  schema: z.strictObject({}),
  decode: (_input, _call, view) =>
    settle(JSON.stringify({ runs: openRuns(view).map(({ id: _, key: _key, ...run }) => run) })),
});

const cancel = checkedTool({
  ...runs,
  name: 'sessions_cancel',
  description: 'End a background run early. Its end is announced like any other.',
  schema: z.strictObject({ runId: text('the runId') }),
  decode({ runId }, _call, view) {
    const open = openRuns(view);
    const [run, ...more] = open.filter(
      (one) => one.runId === runId || one.label === runId || one.key === runId,
    );
    const known = open.map((one) => `${one.runId} (${one.label})`).join(', ') || 'none';
    if (run === undefined || more.length > 0)
      return refuse(
        'AGENT_NOT_FOUND',
        `field "runId": not one open run "${runId}"; the end of any other was announced. Open: ${known}.`,
      );
    const output = JSON.stringify({ status: 'cancelled', runId: run.runId });
    return settle(output, { type: 'kill-agents', agent_ids: [run.id] });
  },
});

export function modelFor(options: Spawn, { profiles, subagents }: ToolsetTerms): string | null {
  return modelOf(options, profiles) ?? subagents.model;
}

/** A background run that a step creates. */
export interface PlannedRun {
  readonly type: 'run';
  readonly child: NewAgent;
  readonly run_id: string;
  readonly session_key: string;
  readonly consequences: readonly Consequence[];
}

/** Plans a background run. For one of several runs of a call: `field` names it in errors; `sharers` is how many of them share what is left of a budget. */
export function planRun(
  options: Spawn,
  agent_id: string,
  key: string,
  model: string | null,
  view: ToolsetView,
  { field = '', sharers = 1 }: { readonly field?: string; readonly sharers?: number } = {},
): PlannedRun | Refused {
  const ground = checkTask(options.task, options, key, model, view, field, undefined, sharers);
  if (ground.type === 'refuse') return ground;
  const { self } = view;
  const id = view.newId('agent');
  const run_id = view.newId();
  const label = options.label || null;
  const session_key = `agent:${agent_id}:subagent:${id}`;
  const timeout_ms = options.timeoutSeconds ? wholeMilliseconds(options.timeoutSeconds) : null;
  const cleanup = options.cleanup ?? 'keep';
  const deliver = [...new Set([options.deliver ?? []].flat())];
  const unknown = deliver.find((target) => !view.terms.deliver_to.includes(target));
  if (unknown !== undefined) return refuse('INVALID_ARG', undeliverable(unknown, view.terms.deliver_to));
  // The profile's system prompt is added to the sub-agent prompt and does not replace it.
  const own = ground.profile?.system ?? null;
  const prompt = systemPrompt(self, session_key, label ?? run_id);
  const config = childConfig(self.config, {
    profile: ground.profile,
    model,
    thinking: options.thinking ?? null,
    system: own === null ? prompt : `${own}\n\n${prompt}`,
    cwd: ground.cwd,
    run_ms: timeout_ms,
    budget: ground.budget,
    id,
    task: taskTerms({
      ...{ kind: 'session', label, run_id, cleanup, worktree: ground.worktree },
      output_schema: options.output_schema ?? null,
      ...(deliver.length === 0 ? {} : { delivers: true }),
    }),
  });
  const { child, consequences } = isolatedChild(view, {
    ...{ id, session_key, config, deliver, timeout_ms, task: options.task, text: ground.text },
  });
  return { type: 'run', child, run_id, session_key, consequences };
}

function undeliverable(target: string, known: readonly string[]): string {
  const where = known.length === 0 ? 'no channel is configured' : `deliver to one of: ${known.join(', ')}`;
  return `deliver: "${target}" is not an allowed delivery target; ${where}`;
}

/** The system prompt of a background run. */
function systemPrompt(requester: Agent, session_key: string, label: string): string {
  return storable(
    `You are a subagent spawned by the main agent.

**Requester:** ${requester.session_key}
**Session:** ${session_key}
**Label:** ${label}

**Instructions:**
- Focus only on the assigned task
- Be concise but thorough
- You cannot spawn additional subagents
- Your last words are your report: they are announced to the requester`,
  );
}

export const sessionsToolset: Toolset = {
  name: 'sessions',
  tools: [spawn, list, cancel],
  guidance:
    'Do not wait for background runs: when you have nothing else to do, end your turn. Their ends wake you. The user gets only your last answer: repeat in it what counts of earlier ones.',
};
