import { closeSync } from 'node:fs';
import * as z from 'zod';
import { findShell } from '../../processes/find-shell.ts';
import { boundCommand, type CommandBounds } from '../../processes/sandbox/command-bounds.ts';
import { unnamedFile } from '../../processes/sandbox/sandbox.ts';
import { runProcess } from '../../processes/starting/run-process.ts';
import { commandEnvironment } from '../../processes/starting/unattended.ts';
import type { HookEvent, HookPlace, Hooks, HookVerdict } from '../../records/hook.ts';
import { jsonIn } from '../../records/text/json-text.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import {
  HOOK_SECONDS,
  type HookCommand,
  type HookSettings,
  hookToolNames,
  matchingHooks,
} from './hook-settings.ts';

/** Maximum characters that are read of what a hook prints. */
const SAID_MAX = 10_000;

const NO_HOOKS: HookVerdict = { deny: null, ask: null, context: [] };

const decision = z.looseObject({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  systemMessage: z.string().optional(),
  decision: z.string().optional(),
  reason: z.string().optional(),
  hookSpecificOutput: z
    .looseObject({
      permissionDecision: z.string().optional(),
      permissionDecisionReason: z.string().optional(),
      additionalContext: z.string().optional(),
      decision: z.looseObject({ behavior: z.string().optional(), message: z.string().optional() }).optional(),
    })
    .optional(),
});

const MODES = { ask: 'default', accept: 'acceptEdits', plan: 'plan' } as const;

/** Hooks of the configuration, and those that projects bring (`projectOf`) and a person trusts. They run within the bounds of commands of agents. */
export function createHooks(
  own: HookSettings,
  bounds: CommandBounds,
  projectOf: (folder: string) => readonly HookSettings[],
): Hooks {
  return {
    async run(event, project, placeOf, { tool, ...facts }) {
      const hooks = matchingHooks([own, ...projectOf(project)], event, tool);
      if (hooks.length === 0) return NO_HOOKS;
      const place = await placeOf();
      const told = {
        session_id: place.agent.root_id,
        transcript_path: '',
        cwd: place.cwd,
        permission_mode: MODES[place.mode],
        hook_event_name: event,
        agent_id: place.agent.id,
        agent_name: place.agent.name,
        ...(tool !== undefined && { tool_name: hookToolNames(tool)[0], coppice_tool: tool }),
        ...facts,
      };
      const all = await Promise.all(hooks.map((hook) => verdictOf(event, hook, told, place, bounds)));
      return {
        deny: all.find(({ deny }) => deny !== null)?.deny ?? null,
        ask: all.find(({ ask }) => ask !== null)?.ask ?? null,
        context: all.flatMap(({ context }) => context),
      };
    },
  };
}

async function verdictOf(
  event: HookEvent,
  hook: HookCommand,
  told: object,
  place: HookPlace,
  bounds: CommandBounds,
): Promise<HookVerdict> {
  const failed = (why: string): HookVerdict => {
    place.tell(`hook ${event} "${clean(hook.command)}" ${why}; it decides nothing`);
    return NO_HOOKS;
  };
  const ran = await runHook(hook, told, place, bounds).catch((error: unknown) => String(error));
  if (place.signal.aborted) return NO_HOOKS;
  if (typeof ran === 'string') return failed(ran);
  const { code, output, errors } = ran;
  if (code === 2) return { ...NO_HOOKS, deny: errors.trim() || `the hook "${hook.command}" gave no reason` };
  if (code !== 0)
    return failed(`failed with exit code ${code}${errors.trim() === '' ? '' : `: ${clean(errors.trim())}`}`);
  const text = output.trim();
  if (!text.startsWith('{'))
    return (event === 'UserPromptSubmit' || event === 'SessionStart') && text !== ''
      ? { ...NO_HOOKS, context: [text] }
      : NO_HOOKS;
  const parsed = decision.safeParse(jsonIn(text));
  if (!parsed.success) return failed('printed JSON that is no decision');
  const { data } = parsed;
  if (data.systemMessage !== undefined) place.tell(clean(data.systemMessage));
  const { hookSpecificOutput: own = {} } = data;
  const is_denied =
    data.continue === false ||
    data.decision === 'block' ||
    data.decision === 'deny' ||
    own.permissionDecision === 'deny' ||
    own.decision?.behavior === 'deny';
  const reason =
    own.permissionDecisionReason ??
    own.decision?.message ??
    data.reason ??
    data.stopReason ??
    'no reason given';
  return {
    deny: is_denied ? reason : null,
    ask: own.permissionDecision === 'ask' ? reason : null,
    context: own.additionalContext === undefined ? [] : [own.additionalContext],
  };
}

/** Runs one hook; a text says why it did not run to its end. */
async function runHook(
  { command, timeout = HOOK_SECONDS }: HookCommand,
  told: object,
  { cwd, shared, env_allow, signal, agent }: HookPlace,
  bounds: CommandBounds,
): Promise<{ readonly code: number; readonly output: string; readonly errors: string } | string> {
  const problem = (await bounds.sandbox?.problem()) ?? null;
  if (problem !== null) return `could not be started: ${problem}`;
  const { budget, confine } = await boundCommand(bounds, { cwd, shared });
  const said = { output: '', errors: '' };
  const take = (name: keyof typeof said) => (chunk: Buffer) => {
    if (said[name].length < SAID_MAX) said[name] += chunk.toString();
  };
  const end = await runProcess({
    file: findShell(),
    args: ['-c', command],
    place: () => withInput(cwd, `${JSON.stringify(told)}\n`),
    env: { ...commandEnvironment(env_allow), CLAUDE_PROJECT_DIR: cwd, COPPICE_PROJECT_DIR: cwd },
    signal,
    tree: agent.root_id,
    timeout_ms: timeout * 1000,
    onOutput: take('output'),
    onErrorOutput: take('errors'),
    budget,
    confine,
  });
  if (end.end === 'timed_out') return `was stopped after ${timeout} s`;
  if (end.end === 'over_limit') return `was stopped: ${end.why}`;
  if (end.end === 'not_started') return `could not be started: ${end.error.message}`;
  if (end.end === 'aborted') return 'was cancelled';
  if (end.signal !== null) return `was killed by ${end.signal}`;
  if (/^(bwrap|landlock): /.test(said.errors)) return `could not be started: ${clean(said.errors)}`;
  return {
    code: end.code ?? 0,
    output: storable(said.output.slice(0, SAID_MAX)),
    errors: storable(said.errors.slice(0, SAID_MAX)),
  };
}

/** The text as standard input: what a hook does not read blocks nobody. */
function withInput(cwd: string, text: string) {
  const stdin = unnamedFile(text);
  return { cwd, stdin, close: () => closeSync(stdin) };
}
