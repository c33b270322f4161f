import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { argumentsError, unknownToolError } from '../../kernel/reading/call-errors.ts';
import { readArguments } from '../../kernel/reading/read-arguments.ts';
import { slashInShell } from '../../kernel/toolsets/slash/written-slash.ts';
import { stoppedText } from '../../kernel/transition/calls.ts';
import { askingRules, decide, decidePaths } from '../../permissions/decide.ts';
import { isCovered } from '../../permissions/grants/grant.ts';
import { whatWouldAllow } from '../../permissions/grants/propose-rules.ts';
import { modeRefusal, withMode } from '../../permissions/mode.ts';
import { partialRules, policyOf } from '../../permissions/policy.ts';
import { type ProtectedContext, protectedPlace, unreadablePlace } from '../../permissions/protected-path.ts';
import { policyRefusal } from '../../permissions/refusal.ts';
import { callTouches, permissionSubject, touchesOf, writtenPath } from '../../permissions/touched-paths.ts';
import { treeOutput } from '../../processes/output/spill-folder.ts';
import type { Deed } from '../../records/agent/deeds.ts';
import { skillsOf } from '../../records/agent/skill.ts';
import { type Call, isApproved, isWorking } from '../../records/agent/state.ts';
import { type NewAsk, RULE_BREAK } from '../../records/conversation/ask.ts';
import type { FileUse, ResultContent } from '../../records/conversation/message.ts';
import { leadingSleep } from '../../records/text/parse-duration.ts';
import { storable } from '../../records/text/text.ts';
import type { SeenContext, Tool, ToolContext, ToolResult } from '../../records/tool.ts';
import { duration } from '../../render/amounts.ts';
import type { Store } from '../../store/store.ts';
import { permissionOf } from '../../tools/built-in-permissions.ts';
import { deedOf } from '../../tools/evidence.ts';
import { type Cell, RunningTool } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import { LEASE_OVER } from '../leading/unattended-trees.ts';
import type { RuntimeEvent } from '../runtime-event.ts';
import type { OpenOptions } from '../runtime-options.ts';
import type { ToolCatalog } from '../tool-catalog.ts';
import { callHooks, type HookContext } from './asking/agent-hooks.ts';
import { askOf, type GrantContext, grantsFor, mayAsk, shownFor } from './asking/approvals.ts';
import type { questionsOf } from './asking/ask-for-tool.ts';
import { treeMode } from './tree-mode.ts';

export interface CallContext
  extends ProtectedContext,
    GrantContext,
    HookContext,
    Pick<OpenOptions, 'output' | 'clock' | 'newId' | 'env_allow'> {
  readonly store: Pick<Store, 'kind' | 'location' | 'agent' | 'asks' | 'grants' | 'fileChanges'>;
  readonly executor: Executor;
  readonly catalog: ToolCatalog;
  readonly emit: (event: RuntimeEvent) => void;
}

/** Result of calls that were stopped because their lease could not be renewed. */
export const LEASE_OVER_TEXT =
  'Interrupted: the ledger could not be reached for so long that another process may have taken over this agent, so the call was stopped. It may have taken effect partially. Check before you repeat it.';

type Settled = Pick<ResultContent, 'status' | 'output' | 'images' | 'file'> & { readonly deed?: Deed };
/** The call needs approval first. */
type Asking = { readonly ask: NewAsk };

/** Runs one call of a tool; its result comes back as an event. Never throws. */
export async function performCall(cell: Cell, call: Call, context: CallContext): Promise<void> {
  const { now } = context.clock;
  const controller = new RunningTool();
  cell.calls.set(call.id, controller);
  const settled = await runCall(cell, call, controller, context).catch(
    (error: unknown): Settled => ({
      status: 'error',
      output: `${call.name} failed: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  if (cell.calls.get(call.id) !== controller || cell.gone) return;
  cell.calls.delete(call.id);
  if ('ask' in settled)
    return context.executor.happened(cell, { type: 'call-asked', at: now(), ask: settled.ask });
  const { deed, ...ended } = settled;
  // A call that succeeded in time keeps its result.
  const stopped = controller.signal.reason === LEASE_OVER && settled.status !== 'ok';
  const result: ResultContent = {
    call_id: call.id,
    name: call.name,
    ...ended,
    output: storable(ended.output),
    ...(stopped && {
      status: 'interrupted',
      output: stoppedText(LEASE_OVER_TEXT, storable(controller.printed())),
    }),
  };
  context.executor.happened(cell, {
    type: 'call-settled',
    at: now(),
    result,
    ...(deed !== undefined && { deed }),
  });
}

/** One for all calls: an `AbortSignal` without a reason makes an error with its stack, for each. */
const OVER = new DOMException('the call is over', 'AbortError');

function heardText(tools: ReadonlyMap<string, unknown>, behind: string): string {
  const left = /^(echo\b[^;&|`$()<>]*)?$/.test(behind) ? '' : 'What stands behind the sleep was not run. ';
  const reader = tools.has('wait') ? 'wait reads it. ' : tools.has('slash') ? 'check-mail reads it. ' : '';
  return `[ended early: mail came. ${left}${reader}You need not sleep: end your turn, and mail wakes you.]`;
}

async function runCall(
  cell: Cell,
  call: Call,
  controller: RunningTool,
  context: CallContext,
): Promise<Settled | Asking> {
  const { agent } = cell;
  const { signal } = controller;
  // After a take-over, an approved call may run before this process has asked the MCP servers for their tools.
  await context.catalog.prepare(agent);
  const setup = context.catalog.setupFor(agent.config);
  const named = setup.tools.get(call.name) ?? setup.findTool(call.name);
  const json = context.catalog.argumentsOf(call);
  const tree = context.executor.agent_index.tree(agent.root_id);
  const given = json.ok ? json.input : {};
  const sent = context.catalog.sentTools(agent, tree, false);
  if (named === undefined) {
    const output = unknownToolError(call.name, sent, given);
    return { status: 'error', output, deed: { is_unknown: true } };
  }
  const spec = context.catalog.sentSpec(agent, tree, named.spec);
  if (!json.ok) return { status: 'error', output: argumentsError(spec, json.error, {}) };
  const meant = meantBy(named, json.input, spec);
  if ('error' in meant) return { status: 'error', output: meant.error };
  const { tool, input } = meant;
  const is_shell = tool.permission.subject === 'command' && setup.toolset_tools.has('slash');
  const misplaced = is_shell ? slashInShell(tool.subject(input, agent.config.cwd)) : null;
  if (misplaced !== null) return { status: 'error', output: misplaced };
  const { name } = tool.spec;
  const mode = await treeMode(agent, context);
  const refused = modeRefusal(mode, tool.permission);
  if (refused !== null)
    return { status: 'denied', output: refused, deed: { denied: { why: `${mode} mode` } } };
  const policy = withMode(policyOf(agent.config), mode);
  const subject = permissionSubject(tool, input, agent.config.cwd);
  const { cwd } = agent.config;
  const touched = callTouches(policy, tool.permission, writtenPath(tool, input) ?? subject, cwd);
  const { verdict, rule } = decide(policy, tool.permission, subject, touched);
  const asks = verdict === 'ask' ? askingRules(policy, tool.permission, subject, touched) : [];
  const denied = (other: string, path: string) => {
    const by = other === name ? tool.permission : permissionOf(other);
    const own = decide(policy, by, path);
    if (own.verdict === 'deny') return own.rule;
    const writes = by.bound_by.includes('write');
    const place = writes
      ? protectedPlace(join(realpathSync(cwd), path), cwd, context)
      : unreadablePlace(path, cwd, context);
    if (place !== undefined) return place;
    const bound = decidePaths(policy, touchesOf(by, path));
    // The rule that asked about the call itself has been answered before the call runs.
    return bound === undefined || bound.rule === rule ? undefined : bound.rule;
  };
  const asked = { tool: name, subject, subject_kind: tool.permission.subject };
  // A person's answer stays valid after a take-over, even by a process in which nobody can be asked.
  const approved = verdict !== 'deny' && isApproved(agent.state, call.id);
  if (approved && asked.subject_kind === 'script' && (await shownFor(agent, call.id, context)) !== subject)
    return { status: 'error', output: 'The script changed after a person allowed it: call it again.' };
  const hooks = callHooks(cell, { tool: name, input, call_id: call.id }, mode, signal, context);
  // What a person has allowed, hooks have seen before.
  const hooked = approved || verdict === 'deny' ? null : await hooks.before();
  const objects = (why: string): Settled => ({
    status: 'denied',
    output: `A hook of the user objects to this call: ${why}`,
    deed: { denied: { why: 'a hook' } },
  });
  if (hooked?.deny != null) return objects(hooked.deny);
  const wants_person = hooked?.ask ?? null;
  const allowed =
    approved ||
    (wants_person === null &&
      (verdict === 'allow' ||
        (verdict === 'ask' && isCovered(await grantsFor(agent, context), asks, asked))));
  const files = seenContext(cell, context);
  if (!allowed && wants_person !== null && !mayAsk(agent, context))
    return objects(`${wants_person} (it wants a person to be asked, and nobody can be)`);
  if (!allowed && verdict !== 'deny' && mayAsk(agent, context)) {
    const refusal = await tool.refusal?.(input, { cwd, denied, files });
    if (refusal) return { status: 'error', output: refusal };
    const { deny } = await hooks.asking();
    if (deny !== null) return objects(deny);
    return {
      ask: askOf(
        agent,
        { ...call, input: named === tool ? call.input : JSON.stringify(input) },
        { ...asked, difference: (await tool.difference?.(input, { cwd, denied, agent })) ?? null },
        [...asks, ...(wants_person === null ? [] : [`hook: ${wants_person}`])].join(RULE_BREAK),
        context,
      ),
    };
  }
  if (!allowed)
    return {
      status: 'denied',
      output: policyRefusal(policy, tool.permission, subject, touched) ?? rule,
      deed: { denied: whatWouldAllow(policy, asked, tool.permission, { rule, touched }) },
    };
  const over = new AbortController();
  const heard = new AbortController();
  // A model that sleeps before all else means to wait for its agents.
  const sleep = tool.permission.subject === 'command' ? leadingSleep(subject) : null;
  const stopListening = sleep === null ? () => undefined : cell.inbox.listen(() => heard.abort(OVER));
  // Counted from before the shell begins: what stands behind the sleep is never broken off.
  const slept =
    sleep !== null && sleep.behind !== '' && setTimeout(stopListening, Math.min(sleep.ms, 2 ** 31 - 1));
  const running = tool.run(input, {
    ...{ cwd, subject },
    question: lateQuestions(cell, { call, tool: name, repeats: true, over: over.signal }, context),
    spill_dir: treeOutput(context.spill_dir, agent.root_id),
    signal: sleep ? AbortSignal.any([signal, heard.signal]) : signal,
    agent: { id: agent.id, name: agent.name, root_id: agent.root_id },
    skills: skillsOf(agent.config),
    env_allow: context.env_allow,
    denied,
    judge: (one) => decide(policy, tool.permission, one),
    left_out: tool.permission.bound_by.flatMap((one) => partialRules(policy, one)),
    files,
    notice: (text) => context.emit({ type: 'notice', agent_id: agent.id, text }),
    onOutput: (text) => context.emit({ type: 'output', agent_id: agent.id, call_id: call.id, text }),
    soFar: (printed) => {
      controller.printed = printed;
    },
  });
  const ran = await running.finally(() => {
    over.abort(OVER);
    stopListening();
    if (slept) clearTimeout(slept);
  });
  const is_heard = heard.signal.aborted && !signal.aborted && ran.status === 'cancelled';
  const result = is_heard
    ? { status: 'ok' as const, output: heardText(setup.toolset_tools, sleep?.behind ?? '') }
    : ran;
  context.output.cleanIfDue();
  const deed = deedOf(tool.permission, subject, cwd, result, agent.config.require);
  const slashed = is_shell ? slashInShell(subject, result.output) : null;
  const also = slashed ?? otherUsersNote(cell, result, context.executor);
  const { exit_code: _, ...ended } = { exit_code: 0, ...result };
  const output = await hooks.after(result, hooked);
  return { ...ended, deed, output: also === null ? output : `${output}\n${also}` };
}

/** `questionsOf`, imported with the first question. */
function lateQuestions(...given: Parameters<typeof questionsOf>): NonNullable<ToolContext['question']> {
  let questions: Promise<NonNullable<ToolContext['question']>> | undefined;
  return async (...asked) => {
    questions ??= import('./asking/ask-for-tool.ts').then((late) => late.questionsOf(...given));
    return (await questions)(...asked);
  };
}

/** Returns the tool to run and its input: those that the call names, or those that it stands for (`Tool.stands_for`). */
function meantBy(
  named: Tool,
  input: unknown,
  sent: Tool['spec'],
): { tool: Tool; input: unknown } | { error: string } {
  const parsed = named.parse(input);
  if (!parsed.ok) return { error: argumentsError(sent, parsed.error, input) };
  const other = named.stands_for?.(parsed.input);
  if (other === undefined) return { tool: named, input: parsed.input };
  if ('error' in other) return { error: `${named.spec.name}: ${other.error}` };
  const { spec } = other.tool;
  const written = other.tool.parse(other.input);
  const inner = written.ok
    ? written
    : other.tool.parse(readArguments({ ...spec, own: false }, other.input).input);
  return inner.ok
    ? { tool: other.tool, input: inner.input }
    : { error: argumentsError(spec, inner.error, other.input) };
}

/** Maximum changes read for a refusal, and maximum changes that it names. */
const CHANGES_READ = 20;
const CHANGES_NAMED = 3;

/** The files that the agent has seen, according to its conversation in the ledger. */
function seenContext(cell: Cell, { store, executor, clock }: CallContext): SeenContext {
  return {
    seen: (path) => cell.seen.hashOf(path),
    isRecorded: (path, hash) =>
      usersOf(path, 'changed', cell, executor).some(({ seen }) => seen.hashOf(path) === hash),
    changedBy: async (path, seen, now) => {
      const changes = await store.fileChanges(path, CHANGES_READ);
      if (changes[0]?.result.file.hash !== now) return null;
      const known = changes.findIndex(({ result }) => result.file.hash === seen);
      const since = changes.slice(0, seen === undefined ? 1 : known === -1 ? CHANGES_NAMED : known);
      const named = since.slice(0, CHANGES_NAMED).map(({ agent_name, at, result }) => {
        const [first, last] = result.file.lines ?? [];
        const lines =
          first === undefined ? '' : first === last ? `, line ${first}` : `, lines ${first}–${last}`;
        return `${duration(clock.now() - at)} ago by ${agent_name}${lines}`;
      });
      return named.length === 0 ? null : named.join('; ');
    },
  };
}

/**
 * Names other working agents that use the same file, each of them once: those that changed
 * it and, if this call changed it, those that read it. Null if there are none.
 */
function otherUsersNote(cell: Cell, { status, ...result }: ToolResult, executor: Executor): string | null {
  const file = 'file' in result ? result.file : undefined;
  if (status !== 'ok' || file === undefined) return null;
  const changes = file.before !== undefined;
  const others = usersOf(file.path, 'changed', cell, executor);
  if (changes) others.push(...usersOf(file.path, 'read', cell, executor));
  const names = others.flatMap(({ agent }) => {
    const key = `${agent.id} ${file.path}`;
    if (agent.id === cell.agent.id || !isWorking(agent.state.type) || cell.told.has(key)) return [];
    cell.told.add(key);
    return [agent.name];
  });
  if (names.length === 0) return null;
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : '';
  return `[${changes ? 'also held' : 'also being changed'} by ${names.slice(0, NAMES_MAX).join(', ')}${more}]`;
}

const NAMES_MAX = 5;

/** Cells of the agent's tree that this process leads and that use the file so. */
function usersOf(path: string, use: FileUse, { agent }: Cell, { agent_index, cells }: Executor): Cell[] {
  const known = agent_index.users(agent.root_id, use, path).flatMap((id) => cells.get(id) ?? []);
  return known.filter(({ seen }) => seen.use(path) === use);
}
