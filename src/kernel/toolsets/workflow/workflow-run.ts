import * as z from 'zod';
import type { Agent, AgentConfig } from '../../../records/agent/agent.ts';
import { framedName } from '../../../records/agent/agent-name.ts';
import type { Call } from '../../../records/agent/state.ts';
import { taskTerms } from '../../../records/agent/task-terms.ts';
import { formFields } from '../../../records/question/form-field.ts';
import { cutText } from '../../../records/text/cut-text.ts';
import { storable } from '../../../records/text/text.ts';
import type { WorkflowTerms } from '../../../records/workflow/workflow-terms.ts';
import { refuse } from '../acts/agent-reference.ts';
import { budgetOption } from '../acts/child-budget.ts';
import { childConfig } from '../acts/child-config.ts';
import { forkPlace } from '../acts/fork-agent.ts';
import { isolatedChild } from '../acts/new-child.ts';
import { checkTask, modelOf, needsOf, type TaskOptions, taskPlace } from '../acts/task-options.ts';
import { checkedTool } from '../arguments.ts';
import type { Decision, Toolset, ToolsetTool, ToolsetView } from '../toolset.ts';
import { earlierCall, earlierNeed, reusable, reused } from './earlier-calls.ts';
import { meantModel, meantProfile, unknownNames } from './foreign-names.ts';
import { inheritedConfig, inheritedConversation } from './inherited-conversation.ts';
import { workflowAgent } from './workflow-agent.ts';

/**
 * The toolset of a workflow run (docs/workflows.md). Its calls are made by the run's script, never by a model, and it cannot be selected: `agent` starts a
 * background run, `next` waits until one of them ends.
 */

/** How long a workflow waits at most before it looks again, if it has no timer. */
const LOOK_MS = 7 * 86_400_000;

/** Characters of what is told to people at once. */
const NOTICE_MAX = 20_000;

/** What the ledger keeps of each call, so that a replay can be compared. */
const recorded = { key: z.string(), prompt: z.string() };

const agentInput = z.object({
  ...recorded,
  label: z.string().optional(),
  phase: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
  model: z.string().min(1).optional(),
  effort: z.string().optional(),
  agentType: z.string().min(1).optional(),
  isolation: z.string().optional(),
  /** A number is tokens, as `budget.total` is. */
  budget: z
    .union([
      z.number().transform((tokens) => ({ tokens: Math.ceil(tokens) })),
      budgetOption.unwrap().unwrap(),
    ])
    .optional(),
  ...{ context: z.unknown().optional(), continue: z.unknown().optional() },
  /** The agent of this call that a person wants to be run again. */
  instead_of: z.string().optional(),
});

type AgentInput = z.infer<typeof agentInput>;

/** Efforts of other programs are the nearest of ours. */
function thinkingOf(effort: string | undefined): AgentConfig['thinking'] | null {
  if (effort === 'low' || effort === 'medium' || effort === 'off') return effort;
  return effort === undefined ? null : effort === 'minimal' || effort === 'none' ? 'low' : 'high';
}

function optionsOf(input: AgentInput, self: Agent, terms: ToolsetView['terms']): TaskOptions {
  const { schema, agentType, isolation, budget, model } = input;
  return {
    output_schema: schema ?? null,
    worktree: isolation === 'worktree',
    profile: meantProfile(agentType, terms),
    model: meantModel(model, self, terms),
    budget,
  };
}

const agent = checkedTool({
  name: 'agent',
  description: 'Start an agent of the workflow.',
  schema: agentInput,
  creates: true,
  needs: (input, call, self, terms) => {
    const options = optionsOf(input, self, terms);
    const needs = needsOf(options, call.id, self, modelOf(options, terms.profiles));
    const earlier = earlierOf(input, call, self);
    // Whether it needs a new worktree depends on what the earlier run has.
    return earlier === null ? needs : [...needs.filter(({ type }) => type !== 'worktree'), earlier];
  },
  decode(input, call, view) {
    const { self } = view;
    const earlier = earlierCall(earlierOf(input, call, self), view);
    if (earlier.answer?.ok === false) return refuse('NOT_AVAILABLE', earlier.answer.error);
    if (earlier.call?.type === 'value') return reused(earlier.call);
    const { instead_of } = input;
    const isBefore = ({ id, was }: Agent) => (was?.at(-1) ?? id) === instead_of;
    const before = instead_of === undefined ? undefined : view.children(self).find(isBefore);
    if (before?.state.type === 'completed') return refuse('NOT_AVAILABLE', 'it has finished meanwhile.');
    const { calls, nested: is_nested = false } = self.config.workflow as WorkflowTerms;
    if (agentsOfRun(is_nested, view) >= calls)
      return refuse('LIMIT_REACHED', `this run and those within it may call agent() ${calls} times at most.`);
    const inherited = inheritedConversation(input, view);
    if (inherited?.type === 'refuse') return inherited;
    const options = optionsOf(input, self, view.terms);
    const model = modelOf(options, view.terms.profiles);
    const forked = input.context !== undefined;
    const place = forked ? forkPlace : taskPlace;
    const in_place: ToolsetView = {
      ...view,
      answer: (need) => (need.type === 'worktree' && earlier.answer) || view.answer(need),
    };
    const checked = checkTask(input.prompt, options, call.id, model, in_place, '', place);
    if (checked.type === 'refuse') return checked;
    // What an agent with another's conversation had begun is done anew, from that conversation.
    const goes_on = earlier.call?.type === 'unfinished' && inherited === null;
    const unfinished = goes_on ? earlier.call.messages : undefined;
    const [id, run_id] = [view.newId('agent'), view.newId()];
    const label = input.label ?? (typeof input.continue === 'string' ? input.continue : null);
    const prompt = systemPrompt(self, label, input.schema !== undefined);
    const thinking = thinkingOf(input.effort);
    const task = taskTerms({
      ...{ kind: 'session', label, run_id },
      output_schema: options.output_schema ?? null,
      worktree: checked.worktree,
      workflow: {
        phase: input.phase ?? null,
        ...(forked ? { forked } : {}),
        ...(instead_of === undefined ? {} : { instead_of: before?.id ?? instead_of }),
      },
    });
    const { profile, cwd, budget } = checked;
    const system = profile?.system ? `${profile.system}\n\n${prompt}` : prompt;
    const config =
      inherited === null
        ? childConfig(self.config, { profile, model, thinking, system, cwd, budget, id, task })
        : inheritedConfig(inherited, self.config, { id, model, thinking, task, checked });
    // Its system text is that of the conversation, so what it is stands before its task.
    const text = forked ? `${FORKED}${prompt}\n\nYour task:\n${checked.text}` : checked.text;
    const { consequences } = isolatedChild(view, {
      ...{ id, config, earlier: unfinished, task: input.prompt, timeout_ms: null },
      text: unfinished === undefined ? text : CONTINUED,
      ...(inherited === null ? {} : { inherits: inherited.from }),
      session_key: `agent:${checked.profile?.name ?? 'main'}:workflow:${id}`,
    });
    const note = unknownNames(input, self, view.terms);
    if (before !== undefined) consequences.push({ type: 'kill-agents', agent_ids: [before.id] });
    return { type: 'settle', output: JSON.stringify({ agent_id: id, ...(note && { note }) }), consequences };
  },
});

/** The same call once more, for an agent that a person wants to be run again. If it is refused, nothing of the script has failed. */
const retry: ToolsetTool = { ...agent, spec: { ...agent.spec, name: 'retry' } };

const CONTINUED =
  'You were interrupted and go on now, in a new run of the workflow: continue your task where you were.';

function earlierOf(input: AgentInput, { id }: Call, self: Agent) {
  const { isolation, instead_of: agent, key, phase = null, label = '' } = input;
  const worktree = isolation === 'worktree' ? { base: self.config.cwd, id } : null;
  if (agent === undefined) return earlierNeed(self, input, { worktree });
  return { type: 'earlier' as const, run: self.id, agent, call: { key, name: '', label, phase }, worktree };
}

/** Agents that a run and the runs within it have started: they share one limit of calls. */
function agentsOfRun(is_nested: boolean, view: ToolsetView): number {
  const outer = is_nested ? (view.lineage(view.self)[1] as Agent) : view.self;
  const own = view.children(outer);
  const runs = own.filter(({ config }) => config.workflow !== undefined);
  return runs.reduce((sum, run) => sum + view.children(run).length, own.length - runs.length);
}

const FORKED =
  'The conversation above is your memory; whoever led it goes on without you. You are somebody else now. ';

function systemPrompt({ config, name }: Agent, label: string | null, submits: boolean): string {
  const workflow = framedName(config.workflow?.name ?? name);
  const what = label === null ? '' : ` Your part in it: ${framedName(label)}.`;
  return storable(
    `You are an agent of the workflow "${workflow}", which a script runs.${what} Do the task that you are given. Nobody answers questions: where something is unclear, decide and say so. ${submits ? 'End with submit_result: its result is data for the script, and nothing else is read.' : 'Your last message is data for the script: give the result and nothing else.'}`,
  );
}

/** The value of another workflow's script; one level deep. */
const nested = checkedTool({
  name: 'workflow',
  description: 'Run another workflow.',
  schema: z.object({ ...recorded, args: z.unknown().optional(), phase: z.string().optional() }),
  creates: true,
  needs: (input, _call, self) => [
    { type: 'workflow', base: self.config.cwd, name: input.prompt },
    ...[earlierNeed(self, input, { name: input.prompt }) ?? []].flat(),
  ],
  decode(input, _call, view) {
    const { prompt: name, args, phase } = input;
    const { config } = view.self;
    const { seed, calls, deliver, nested: is_nested } = config.workflow as WorkflowTerms;
    if (is_nested) return refuse('NESTING_FORBIDDEN', 'a workflow within a workflow starts no third one.');
    const found = view.answer({ type: 'workflow', base: config.cwd, name });
    if (!found.ok) return refuse('NOT_AVAILABLE', found.error);
    const loaded = JSON.parse(found.text) as Pick<WorkflowTerms, 'name' | 'description' | 'script'>;
    const { call } = earlierCall(earlierNeed(view.self, input, { name }), view);
    const earlier = call?.type === 'run' ? call : null;
    const { fresh = [] } = config.workflow?.reuses ?? {};
    return started(view, phase, (id) => ({
      ...loaded,
      ...(args === undefined ? {} : { args: JSON.stringify(args) }),
      ...(deliver && { deliver }),
      ...{ seed: earlier?.seed ?? `${seed} ${id}`, started_at: earlier?.started_at ?? view.now },
      ...{ calls, nested: true },
      ...(earlier === null ? {} : { reuses: { run: earlier.run, fresh } }),
    }));
  },
});

/** A question to a person: an agent of its own asks it, so that the script goes on meanwhile. */
const ask = checkedTool({
  name: 'ask',
  description: 'Ask a person.',
  schema: z.object({
    ...{ ...recorded, label: z.string().optional(), phase: z.string().optional() },
    choices: z.array(z.string().min(1)).min(1).optional(),
    schema: z.record(z.string(), z.unknown()).optional(),
  }),
  creates: true,
  decode({ prompt: question, choices, schema, label, phase }, _call, view) {
    if (schema !== undefined && formFields(schema) === null)
      return refuse('INVALID_ARG', 'field "schema": it is not a flat form that people can fill in.');
    const asked = { question, ...(choices && { choices }), ...(schema && { schema }) };
    const { seed } = view.self.config.workflow as WorkflowTerms;
    return started(view, phase, () => ({
      ...{ name: label ?? 'ask', description: question, script: '', ask: asked },
      ...{ seed, started_at: view.now, calls: 0 },
    }));
  },
});

/** Starts a run within this one, whose result is the value of the call. */
function started(
  view: ToolsetView,
  phase: string | undefined,
  terms: (id: string) => WorkflowTerms,
): Decision {
  const [id, run_id] = [view.newId('agent'), view.newId()];
  const agents = [workflowAgent(view, { id, run_id, workflow: terms(id), phase: phase ?? null })];
  const output = JSON.stringify({ agent_id: id });
  return { type: 'settle', output, consequences: [{ type: 'create-agents', agents }] };
}

/** A message for people: in the conversation of the run, and on its channels. */
const notify = checkedTool({
  name: 'notify',
  description: 'Tell people something.',
  schema: z.object(recorded),
  decode({ prompt }, { id: cause }, { now, self: { config } }) {
    const { name, deliver = [] } = config.workflow as WorkflowTerms;
    const targets = [...new Set([...deliver, ...(config.channel === undefined ? [] : [config.channel])])];
    const text = storable(`[Workflow ${framedName(name)}] ${cutText(prompt, NOTICE_MAX, '…')}`);
    const consequences = [{ type: 'tell-people' as const, cause, targets, text }];
    return { type: 'settle', output: JSON.stringify({ now }), consequences };
  },
});

const next = checkedTool({
  name: 'next',
  description: 'Wait until an agent of the workflow ends, a letter comes, or a time.',
  schema: z.strictObject({ until: z.number().nullish() }),
  comes_last: true,
  decode: ({ until }, _call, view) => ({
    type: 'park',
    wait: { from: null, runs: true, deadline: until ?? view.now + LOOK_MS },
  }),
});

/** A timer is a row of the ledger: `next` ends when it is due. */
const sleep = checkedTool({
  name: 'sleep',
  description: 'Begin a timer.',
  schema: z.object({ ...recorded, seconds: z.number() }),
  decode: ({ seconds }, _call, { now }) => timer(now + Math.round(seconds * 1_000), now),
});

const until = checkedTool({
  name: 'until',
  description: 'Begin a timer that ends at an instant.',
  schema: z.object({ ...recorded, at: z.iso.datetime() }),
  decode: ({ at }, _call, { now }) => timer(Date.parse(at), now),
});

function timer(at: number, now: number): Decision {
  return { type: 'settle', output: JSON.stringify({ until: at, now }), consequences: [] };
}

const stop = checkedTool({
  name: 'skip',
  description: 'End agents of the workflow.',
  schema: z.strictObject({ agent_ids: z.array(z.string()) }),
  decode({ agent_ids }, _call, view) {
    const mine = view.subtree(view.self);
    // In a tree that was cut, the script knows them by their ids of before.
    const meant = agent_ids.map((id) => mine.find((one) => one.id === id || one.was?.includes(id))?.id);
    const unknown = agent_ids[meant.indexOf(undefined)];
    if (unknown !== undefined) return refuse('NOT_A_DESCENDANT', `no agent ${unknown} in this workflow`);
    const killed = meant.flatMap((id) => id ?? []);
    return { type: 'settle', output: '{}', consequences: [{ type: 'kill-agents', agent_ids: killed }] };
  },
});

export const workflowRunToolset: Toolset = {
  name: 'workflow-run',
  tools: [agent, retry, nested, ...[ask, notify, sleep, until].map(reusable), next, stop],
  guidance: '',
};
