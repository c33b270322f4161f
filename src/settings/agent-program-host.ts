import { closeSync, fstatSync } from 'node:fs';
import { commandLine } from '../models/command-line.ts';
import type {
  AskPerson,
  HostAnswer,
  HostExit,
  HostTerminal,
  HostTerms,
  HostUse,
  ModelHost,
  ProgramAsk,
} from '../models/model-host.ts';
import { askingRules, decide } from '../permissions/decide.ts';
import { modeRefusal, withMode } from '../permissions/mode.ts';
import {
  type ContainedPath,
  containPath,
  openContained,
  openFolderPath,
} from '../permissions/path-containment.ts';
import { refuseForeignOutput } from '../permissions/path-guard.ts';
import { policyOf } from '../permissions/policy.ts';
import { printablePath } from '../permissions/printable-path.ts';
import { protectedPlace, unreadablePlace } from '../permissions/protected-path.ts';
import { blindRefusal, policyRefusal } from '../permissions/refusal.ts';
import { takesPath } from '../permissions/tool-permission.ts';
import { callTouches } from '../permissions/touched-paths.ts';
import { findShell, shellArguments } from '../processes/find-shell.ts';
import { TIMEOUT_MAX_SECONDS } from '../processes/limits/command-budget.ts';
import { NewestOutput } from '../processes/output/newest-output.ts';
import { treeOutput } from '../processes/output/spill-folder.ts';
import { boundCommand, type CommandBounds } from '../processes/sandbox/command-bounds.ts';
import {
  type ProcessEnd,
  type ProcessPlace,
  type ProcessRequest,
  runProcess,
} from '../processes/starting/run-process.ts';
import { commandEnvironment } from '../processes/starting/unattended.ts';
import { realPath } from '../processes/working-folder.ts';
import type { Agent, PermissionMode } from '../records/agent/agent.ts';
import { orElse } from '../records/coppice-error.ts';
import { permissionOf } from '../tools/built-in-permissions.ts';
import { writeContained } from '../tools/files/atomic-write.ts';
import { difference } from '../tools/files/difference.ts';
import { isBinary } from '../tools/files/file-kind.ts';
import { readWhole } from '../tools/files/read-whole.ts';
import { WRITE_BYTES } from '../tools/files/write.ts';

/** `bounds`: sandbox and limits of the commands; default: none. */
export type HostContext = HostTerms & { readonly bounds?: CommandBounds };

/** By kind of request, the agent's tools that permit it; any one of them suffices. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  read: ['read'],
  write: ['write', 'patch'],
  search: ['search'],
  bash: ['bash'],
};

interface Judged {
  readonly refused: string;
  /** Question for a person; null if the request is refused without asking. */
  readonly question: Pick<ProgramAsk, 'tool' | 'subject' | 'subject_kind' | 'rules'> | null;
}

/** Carries out requests of an agent program, within the agent's folder, tools and permissions. */
export function createModelHost(
  { config, root_id }: Pick<Agent, 'config' | 'root_id'>,
  context: HostContext,
  mode: PermissionMode = 'ask',
  askPerson: AskPerson = async (_, refused) => refused,
): ModelHost {
  const cwd = realPath(config.cwd);
  const { bounds = { sandbox: null, limits: null } } = context;
  const policy = withMode(policyOf(config), mode);
  /** Returns null if the rules allow it. */
  const judge = (tool: string, subject: string): Judged | null => {
    const never = (refused: string): Judged => ({ refused, question: null });
    const needed = NEEDED[tool];
    if (needed !== undefined && !needed.some((name) => config.tools.includes(name)))
      return never(`this agent has no tool "${tool}"`);
    const by = permissionOf(tool);
    const planned = modeRefusal(mode, by);
    if (planned !== null) return never(planned);
    let about = subject;
    try {
      if (subject !== '' && takesPath(by)) about = containPath(cwd, subject).relative;
    } catch (error) {
      return never(textOf(error));
    }
    const touched = subject === '' ? undefined : callTouches(policy, by, about, cwd);
    const refused = subject === '' ? blindRefusal(policy, by) : policyRefusal(policy, by, about, touched);
    if (refused === null) return null;
    // Nobody is asked without a subject: a person could not judge the request.
    if (subject === '' || decide(policy, by, about, touched).verdict === 'deny') return never(refused);
    const rules = askingRules(policy, by, about, touched);
    return { refused, question: { tool, subject: about, subject_kind: by.subject, rules } };
  };
  /** Actions that a person allowed during this prompt: programs ask before they act, and must not be asked about twice. */
  const permitted = new Set<string>();
  const permit = async ({ tool, subject, input = '{}', change }: HostUse): Promise<string | null> => {
    const judged = judge(tool, subject);
    if (judged === null) return null;
    const { refused, question } = judged;
    if (question === null) return refused;
    const key = `${tool} ${question.subject}`;
    if (permitted.has(key)) return null;
    const changed = change === undefined ? null : difference(question.subject, change.before, change.after);
    const why_not = await askPerson({ ...question, input, difference: changed }, refused);
    if (why_not === null) permitted.add(key);
    return why_not;
  };
  const allowed = async (tool: string, path: string, after?: string): Promise<ContainedPath> => {
    const contained = containPath(cwd, path);
    // The canonical path is judged and opened: a link that is swapped in between is detected on opening.
    const { absolute } = contained;
    const place =
      tool === 'write' ? protectedPlace(absolute, cwd, context) : unreadablePlace(absolute, cwd, context);
    // Programs have no spilled output of their own: all of it belongs to others.
    if (place === undefined)
      refuseForeignOutput(contained, { cwd, spill_dir: treeOutput(context.spill_dir, 'none') });
    // Nothing for a file that is not there, or not readable as text.
    const before = () => orElse(() => readText(contained), '');
    const change = after === undefined ? {} : { change: { before: before(), after } };
    const refused = place ?? (await permit({ tool, subject: absolute, ...change }));
    if (refused !== null) throw new Error(`${printablePath(path)}: ${refused}`);
    return contained;
  };
  const env = commandEnvironment(context.env_allow);
  return {
    cwd,
    env,
    permit,
    readFile: (path, from_line = 1, lines = Number.POSITIVE_INFINITY) =>
      answer(async () => {
        const text = readText(await allowed('read', path));
        if (from_line <= 1 && lines === Number.POSITIVE_INFINITY) return { text };
        const first = Math.max(from_line, 1) - 1;
        return {
          text: text
            .split('\n')
            .slice(first, first + lines)
            .join('\n'),
        };
      }),
    writeFile: (path, text) =>
      answer(async () => {
        const bytes = Buffer.from(text, 'utf8');
        if (bytes.length > WRITE_BYTES)
          throw new Error(`${printablePath(path)}: ${bytes.length} bytes; the maximum is ${WRITE_BYTES}`);
        writeContained(await allowed('write', path, text), bytes);
        return {};
      }),
    startCommand: (request) =>
      answer(async () => {
        const { args, subject } = invocation(request);
        const folder = request.cwd ?? '.';
        placeIn(cwd, folder).close();
        const input = JSON.stringify({ command: subject, cwd: folder });
        const refused = await permit({ tool: 'bash', subject, input });
        if (refused !== null) throw new Error(refused);
        const problem = await bounds.sandbox?.problem();
        if (problem) throw new Error(problem);
        const shared = treeOutput(context.spill_dir, root_id);
        const start = containPath(cwd, folder).absolute;
        const bounded = await boundCommand(bounds, { cwd, shared, start });
        const around = { place: () => placeIn(cwd, folder), tree: root_id };
        const command = { file: findShell(), args, ...around, env: { ...env, ...request.env }, ...bounded };
        return { terminal: startHostTerminal(command, request.output_bytes) };
      }),
  };
}

/**
 * Arguments of the shell, and the command as rules for `bash` see it: preceded by its environment variables, because they too affect what runs. A command
 * without arguments is shell text.
 */
function invocation(request: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}): { readonly args: readonly string[]; readonly subject: string } {
  const { command, args, env } = request;
  if (command.trim() === '') throw new Error('the command is empty');
  // The shell would read it as an option.
  if (command.startsWith('-')) throw new Error('the command must not begin with "-"');
  const names = Object.keys(env);
  const odd = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (odd !== undefined) throw new Error(`"${odd}" is not a valid variable name`);
  const variables = names.map((name) => `${name}=${commandLine([env[name] ?? ''])} `).join('');
  if (args.length === 0) return { args: shellArguments(command), subject: variables + command };
  const line = commandLine([command, ...args]);
  return { args: ['-c', 'exec 2>&1; exec "$@"', 'bash', command, ...args], subject: variables + line };
}

function placeIn(root: string, folder: string): ProcessPlace {
  const contained = containPath(root, folder);
  const descriptor = openContained(contained);
  if (!fstatSync(descriptor).isDirectory()) {
    closeSync(descriptor);
    throw new Error(`${printablePath(contained.relative)} is not a folder`);
  }
  return { cwd: openFolderPath(descriptor, contained.absolute), close: () => closeSync(descriptor) };
}

function readText(path: ContainedPath): string {
  const content = readWhole(path, WRITE_BYTES);
  if (isBinary(content)) throw new Error(`${printablePath(path.relative)}: binary, not text`);
  return content.toString('utf8');
}

async function answer<T extends object>(work: () => T | Promise<T>): Promise<HostAnswer<T>> {
  try {
    return { ok: true, ...(await work()) };
  } catch (error) {
    return { ok: false, error: textOf(error) };
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs a command for an agent program, in a process group of its own that ends with the command or with `kill`. */
function startHostTerminal(
  request: Pick<ProcessRequest, 'file' | 'args' | 'place' | 'env' | 'tree' | 'budget' | 'confine'> & {
    readonly notes: readonly string[];
  },
  output_bytes: number,
): HostTerminal {
  const controller = new AbortController();
  const output = new NewestOutput(output_bytes);
  let exit: HostExit | null = null;
  const exited = runProcess({
    ...request,
    signal: controller.signal,
    timeout_ms: TIMEOUT_MAX_SECONDS * 1000,
    onOutput: (chunk) => output.push(chunk),
    // The command itself writes only to standard output (`exec 2>&1`): standard error is what its sandbox reports.
    onErrorOutput: (chunk) => output.push(chunk),
  }).then((end) => {
    if (end.end === 'not_started') output.push(Buffer.from(`[could not be started: ${end.error.message}]\n`));
    if (end.end === 'timed_out') output.push(Buffer.from(`\n[stopped after ${TIMEOUT_MAX_SECONDS} s]\n`));
    if (end.end === 'over_limit') output.push(Buffer.from(`\n[${end.why}]\n`));
    for (const note of request.notes) output.push(Buffer.from(`\n[${note}]\n`));
    exit = exitOf(end);
    return exit;
  });
  return {
    output: () => ({ text: output.text(), truncated: output.truncated, exit }),
    exited,
    kill: async () => {
      controller.abort();
      await exited;
    },
  };
}

/** Exit as in a shell: code 127 if the command could not be started, a signal if it was stopped. */
function exitOf(end: ProcessEnd): HostExit {
  if (end.end === 'exited') return { code: end.code, signal: end.signal };
  return end.end === 'not_started' ? { code: 127, signal: null } : { code: null, signal: 'SIGTERM' };
}
