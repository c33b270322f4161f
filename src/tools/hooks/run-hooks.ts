import { closeSync } from 'node:fs';
import * as z from 'zod';
import { findShell } from '../../processes/find-shell.ts';
import { boundCommand, type CommandBounds } from '../../processes/sandbox/command-bounds.ts';
import { unnamedFile } from '../../processes/sandbox/sandbox.ts';
import { runProcess } from '../../processes/starting/run-process.ts';
import { commandEnvironment } from '../../processes/starting/unattended.ts';
import type { HookEvent, HookPlace, Hooks, HookVerdict } from '../../records/hook.ts';
import { cutText } from '../../records/text/cut-text.ts';
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

/** Maximum bytes that are read of what a hook prints, and maximum characters that are kept of what it says. */
const READ_MAX = 1_000_000;
const SAID_MAX = 10_000;

const NO_HOOKS: HookVerdict = { deny: null, ask: null, context: [] };

const word = z.string().trim().toLowerCase().nullish();
/** A reason of another type takes nothing from the decision. */
const said = z.string().nullish().catch(undefined);
const decision = z.looseObject({
  continue: z.boolean().nullish(),
  stopReason: said,
  systemMessage: said,
  decision: word,
  reason: said,
  hookSpecificOutput: z
    .looseObject({
      permissionDecision: word,
      permissionDecisionReason: said,
      additionalContext: said,
      decision: z.looseObject({ behavior: word, message: said }).nullish(),
    })
    .nullish(),
});
const DENIES = ['block', 'deny'];
const DECISIONS = [...DENIES, 'ask', 'allow', 'approve', ''];

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
      return joined(all);
    },
  };
}

function joined(all: readonly HookVerdict[]): HookVerdict {
  return {
    deny: all.find(({ deny }) => deny !== null)?.deny ?? null,
    ask: all.find(({ ask }) => ask !== null)?.ask ?? null,
    context: all.flatMap(({ context }) => context),
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
  const documents = documentsIn(text);
  const parsed = z.array(decision).safeParse(documents);
  if (!parsed.success || (documents.length === 0 && text.startsWith('{')))
    return failed('printed JSON that is no decision');
  const verdicts = parsed.data.map((one) => verdictIn(one, place));
  const verdict = joined(verdicts);
  if (verdict.deny !== null || verdict.ask !== null) return verdict;
  const unknown = verdicts.flatMap(({ words }) => words).find((one) => !DECISIONS.includes(one));
  if (unknown !== undefined) return failed(`printed the decision "${clean(unknown)}", which is none`);
  const is_told = (event === 'UserPromptSubmit' || event === 'SessionStart') && !text.startsWith('{');
  return is_told && text !== '' && verdict.context.length === 0
    ? { ...NO_HOOKS, context: [cutText(text, SAID_MAX)] }
    : verdict;
}

/** All objects of a text: the whole of it, what follows a log, or single lines, as hooks print them that also tell what they do. */
function documentsIn(text: string): readonly unknown[] {
  const begin = text.search(/^\s*\{/m);
  if (begin === -1) return [];
  const whole = jsonIn(text.slice(begin));
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').filter((line) => line.trimStart().startsWith('{'));
  return lines.map(jsonIn).filter((one) => one !== undefined);
}

function verdictIn(
  data: z.infer<typeof decision>,
  place: HookPlace,
): HookVerdict & { readonly words: readonly string[] } {
  if (data.systemMessage) place.tell(clean(data.systemMessage));
  const own = data.hookSpecificOutput ?? {};
  const words = [data.decision, own.permissionDecision, own.decision?.behavior].flatMap((one) => one ?? []);
  const is_denied = data.continue === false || words.some((one) => DENIES.includes(one));
  const reason = cutText(
    own.permissionDecisionReason ??
      own.decision?.message ??
      data.reason ??
      data.stopReason ??
      'no reason given',
    SAID_MAX,
  );
  return {
    deny: is_denied ? reason : null,
    ask: words.includes('ask') ? reason : null,
    context: own.additionalContext ? [cutText(own.additionalContext, SAID_MAX)] : [],
    words,
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
  const printed = { output: Buffer.alloc(0), errors: Buffer.alloc(0) };
  const take = (name: keyof typeof printed) => (chunk: Buffer) => {
    if (printed[name].length < READ_MAX) printed[name] = Buffer.concat([printed[name], chunk]);
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
  const errors = printed.errors.toString().slice(0, SAID_MAX);
  if (/^(bwrap|landlock): /.test(errors)) return `could not be started: ${clean(errors)}`;
  return { code: end.code ?? 0, output: storable(printed.output.toString()), errors: storable(errors) };
}

/** The text as standard input: what a hook does not read blocks nobody. */
function withInput(cwd: string, text: string) {
  const stdin = unnamedFile(text);
  return { cwd, stdin, close: () => closeSync(stdin) };
}
