import type { EventOf } from '../../../kernel/transition/event.ts';
import { treeOutput } from '../../../processes/output/spill-folder.ts';
import type { Agent, PermissionMode } from '../../../records/agent/agent.ts';
import { assistantText } from '../../../records/conversation/child-text.ts';
import type { Attached } from '../../../records/conversation/facts/message-facts.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import type { HookEvent, HookFacts, HookVerdict } from '../../../records/hook.ts';
import type { ToolResult } from '../../../records/tool.ts';
import type { Store } from '../../../store/store.ts';
import type { Cell } from '../../executor/cell.ts';
import type { Executor } from '../../executor/executor.ts';
import type { RuntimeEvent } from '../../runtime-event.ts';
import type { OpenOptions } from '../../runtime-options.ts';
import { treeMode } from '../tree-mode.ts';

export interface HookContext
  extends Pick<OpenOptions, 'hooks' | 'env_allow' | 'spill_dir' | 'clock' | 'newId'> {
  readonly store: Pick<Store, 'agent'>;
  readonly executor: Executor;
  readonly emit: (event: RuntimeEvent) => void;
}

const NOTHING: HookVerdict = { deny: null, ask: null, context: [] };

/** How often in a row hooks may keep an agent from stopping. */
const HELD_MAX = 5;
const held = new WeakMap<Cell, number>();

/** Runs the hooks of one event of an agent. Never throws. */
async function runHooks(
  { agent }: { readonly agent: Pick<Agent, 'id' | 'name' | 'root_id' | 'config'> },
  event: HookEvent,
  facts: HookFacts,
  context: HookContext,
  { signal = new AbortController().signal, mode }: { signal?: AbortSignal; mode?: PermissionMode } = {},
): Promise<HookVerdict> {
  const { hooks, executor, emit, env_allow, spill_dir } = context;
  if (hooks === undefined) return NOTHING;
  const { id, name, root_id, config } = agent;
  const root = executor.agent_index.agent(root_id);
  const place = async () => ({
    ...{ agent: { id, name, root_id }, cwd: config.cwd, env_allow, signal },
    mode: mode ?? (await treeMode(agent, context)),
    shared: treeOutput(spill_dir, root_id),
    tell: (text: string) => emit({ type: 'notice', agent_id: id, text }),
  });
  return hooks.run(event, root?.config.cwd ?? config.cwd, place, facts);
}

/** The hooks around one call: they may refuse it or have a person asked, and tell its model something; they never allow anything. */
export function callHooks(
  cell: Cell,
  { tool, input, call_id }: { readonly tool: string; readonly input: unknown; readonly call_id: string },
  mode: PermissionMode,
  signal: AbortSignal,
  context: HookContext,
) {
  // Hooks of Claude Code know the path of a file by another name.
  const { path } = input as { readonly path?: unknown };
  const facts = {
    ...{ tool, tool_use_id: call_id },
    tool_input: { ...(typeof path === 'string' && { file_path: path }), ...(input as object) },
  };
  const run = (event: HookEvent, more: object = {}) =>
    runHooks(cell, event, { ...facts, ...more }, context, { signal, mode });
  return {
    before: () => run('PreToolUse'),
    /** Before a person is asked about it. */
    async asking(): Promise<HookVerdict> {
      const message = `${cell.agent.name} asks to use ${tool}`;
      void runHooks(cell, 'Notification', { message, notification_type: 'permission_prompt' }, context, {
        mode,
      });
      return run('PermissionRequest');
    },
    /** The result with what hooks have to say of it. */
    async after(result: ToolResult, before: HookVerdict | null): Promise<string> {
      const { output, status } = result;
      const { deny, context: said } =
        status === 'ok' ? await run('PostToolUse', { tool_response: { output, status } }) : NOTHING;
      const notes = [...(before?.context ?? []), ...(deny === null ? [] : [deny]), ...said];
      return [output, ...notes.map((note) => `[hook: ${note}]`)].join('\n');
    },
  };
}

/** Before an agent's last answer of a turn is kept: a hook that objects has the agent go on, by a notification that it reads next. */
export async function holdByHooks(
  cell: Cell,
  { content, calls }: EventOf<'response'>,
  signal: AbortSignal,
  context: HookContext & { readonly store: Pick<Store, 'send'> },
): Promise<void> {
  const { id, name, root_id, parent_id, config } = cell.agent;
  // A script that has returned and a client of a protocol are no models that could go on.
  const is_model = config.workflow === undefined && content.model !== 'client';
  if (context.hooks === undefined || calls.length > 0 || !is_model) return;
  const times = held.get(cell) ?? 0;
  held.delete(cell);
  const event = parent_id === null ? 'Stop' : 'SubagentStop';
  const facts = { stop_hook_active: times > 0, last_assistant_message: assistantText(content) };
  const { deny } = await runHooks(cell, event, facts, context, { signal });
  if (deny === null || signal.aborted) return;
  if (times >= HELD_MAX) {
    const text = `hooks kept ${name} from stopping ${times} times in a row; it stops now`;
    return context.emit({ type: 'notice', agent_id: id, text });
  }
  held.set(cell, times + 1);
  const sent = await context.store.send({
    ...{ id: context.newId(), root_id, to_id: id, from_id: null, from_name: 'hook', kind: 'event' },
    body: `A hook wants you to go on before you stop: ${deny}`,
    sent_at: context.clock.now(),
  });
  if (sent.ok) context.executor.delivered(sent.mail);
}

/** What a person wrote to an agent, with what hooks add to it. Rejects with `E_REFUSED` if one objects. */
export async function promptWithHooks<P extends { readonly prompt: string; readonly attached?: Attached }>(
  agent: Pick<Agent, 'id' | 'name' | 'root_id' | 'config'>,
  given: P,
  begins: boolean,
  context: HookContext,
): Promise<P> {
  if (context.hooks === undefined) return given;
  const { prompt, attached } = given;
  const run = (event: HookEvent, facts: HookFacts) => runHooks({ agent }, event, facts, context);
  const start = begins ? await run('SessionStart', { source: 'startup' }) : NOTHING;
  const { deny, context: said } = await run('UserPromptSubmit', { prompt });
  if (deny !== null) throw new CoppiceError('E_REFUSED', `a hook objects to this message: ${deny}`);
  const notes = [...start.context, ...said].map((note) => `[hook: ${note}]`);
  if (notes.length === 0) return given;
  const { typed, labels } = attached ?? { typed: prompt.length, labels: [] };
  return {
    ...given,
    prompt: [prompt, ...notes].join('\n\n'),
    attached: { typed, labels: [...labels, ...notes.map(() => 'what a hook adds')] },
  };
}
