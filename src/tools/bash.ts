import { existsSync } from 'node:fs';
import * as z from 'zod';
import { containPath } from '../permissions/path-containment.ts';
import { findShell, shellArguments } from '../processes/find-shell.ts';
import { type CommandLimits, TIMEOUT_MAX_SECONDS } from '../processes/limits/command-budget.ts';
import { OutputCapture } from '../processes/output/output-capture.ts';
import { boundCommand } from '../processes/sandbox/command-bounds.ts';
import type { Sandbox } from '../processes/sandbox/sandbox.ts';
import { tooFewFiles } from '../processes/sandbox/sandbox-support.ts';
import { type ProcessEnd, runProcess } from '../processes/starting/run-process.ts';
import { commandEnvironment, unattendedAdvice } from '../processes/starting/unattended.ts';
import type { FileStamp } from '../records/conversation/message.ts';
import type { Tool, ToolResult } from '../records/tool.ts';
import { BUILT_IN_PERMISSIONS } from './built-in-permissions.ts';
import { defineOwnTool } from './define-tool.ts';
import { hashBytes, hashContained } from './files/file-hash.ts';

/** Default timeout of a command. */
const TIMEOUT_SECONDS = 120;

function notStarted(error: NodeJS.ErrnoException, cwd: string): string {
  if (error.code === 'E2BIG')
    return 'the command is too long for the system: write it to a file and run that';
  if (error.code === 'ERR_INVALID_ARG_VALUE') return 'field "command": must not contain NUL characters';
  if (!existsSync(cwd)) return `the folder ${cwd} is gone`;
  return `the shell could not be started: ${tooFewFiles(error) ?? error.message}`;
}

function bashResult(end: ProcessEnd, output: string, timeout: number, cwd: string): ToolResult {
  const text = output === '' || output.endsWith('\n') ? output : `${output}\n`;
  if (end.end === 'not_started') return { status: 'error', output: notStarted(end.error, cwd) };
  if (end.end === 'aborted') {
    return { status: 'cancelled', output: `${text}[cancelled${end.started ? '' : ' before it started'}]` };
  }
  if (end.end === 'timed_out') {
    return {
      status: 'error',
      output: `${text}[stopped after ${timeout} s; field "timeout" allows up to ${TIMEOUT_MAX_SECONDS}]`,
    };
  }
  if (end.end === 'over_limit') return { status: 'error', output: `${text}[${end.why}]` };
  if (end.signal !== null) return { status: 'error', output: `${text}[killed by ${end.signal}]` };
  const exit_code = end.code ?? 0;
  if (exit_code !== 0) return { status: 'error', output: `${text}[exit code ${exit_code}]`, exit_code };
  return { status: 'ok', output: output === '' ? '[no output]' : output, exit_code };
}

/** The file that the command names last, if what the command printed is all of it: the agent has seen it then, as if it had used `read`. */
function shownFile(command: string, output: string, cwd: string): { readonly file?: FileStamp } {
  const [, ...names] = /(?:^|\s)(?:"([^"]+)"|'([^']+)'|([^\s"']+))\s*$/.exec(command) ?? [];
  try {
    const path = containPath(cwd, names.find((name) => name !== undefined) ?? '');
    const hash = path.exists ? hashContained(path)?.hash : undefined;
    return hash === hashBytes(output) ? { file: { path: path.absolute, hash } } : {};
  } catch {
    return {};
  }
}

/** Matches what programs print when the sandbox blocks them. */
const BLOCKED =
  /Read-only file system|EROFS|Permission denied|EACCES|Operation not permitted|EPERM|Device or resource busy|EBUSY|Network is unreachable|ENETUNREACH|resolve host|EAI_AGAIN|name resolution/;

/** Matches what programs print when a file is missing, also if the command itself succeeds. */
const MISSING = /No such file|ENOENT|not found|does not exist/i;

/** Maximum characters kept of the sandbox's own error messages. */
const SANDBOX_ERROR_MAX = 2000;

/** Describes to the model what the sandbox permits. */
function reachText({ write, hosts }: Sandbox['settings']): string {
  const network = hosts.length === 0 ? 'no network' : `HTTP and HTTPS to ${hosts.join(', ')} only`;
  return `In the sandbox, commands write only in ${['your folder', '/tmp', ...write].join(' and ')}, and have ${network}`;
}

function sandboxText(settings: Sandbox['settings']): string {
  return `${reachText(settings)}; of home folders they see only toolchains and their caches${settings.sockets ? '' : '; they reach no sockets of other programs'}`;
}

const input = z.strictObject({
  command: z.string().min(1).describe('As for bash -c.'),
  timeout: z
    .number()
    .min(0)
    .max(TIMEOUT_MAX_SECONDS)
    .optional()
    .describe(`Seconds, ${TIMEOUT_SECONDS} by default, at most ${TIMEOUT_MAX_SECONDS}.`),
});

/**
 * Runs a shell command in the agent's folder, in the sandbox (docs/sandbox.md) or, without one, with all rights of the user. Exit
 * code 0 is `ok`, anything else `error` with the code in the text. `limits`: null for none. `known`: commands that this program has written itself, such as
 * those of its demo; where the sandbox cannot be set up, these run without it.
 */
export function createBashTool(
  sandbox: Sandbox | null,
  limits: CommandLimits | null = null,
  known: ReadonlySet<string> = new Set(),
): Tool<z.infer<typeof input>> {
  const problem = async (): Promise<string | null> => (await sandbox?.problem()) ?? null;
  return defineOwnTool({
    name: 'bash',
    permission: BUILT_IN_PERMISSIONS.bash,
    description:
      'Run a shell command in your folder. Returns its output, and the exit code if it is not 0. ' +
      'No terminal, no input; what it started is stopped when it ends. Long output is cut; a file that is named keeps it.' +
      (sandbox === null ? '' : ` ${reachText(sandbox.settings)}.`),
    input,
    subject: ({ command }) => command,
    // Nobody is asked to approve a command that cannot run.
    refusal: async ({ command }) => (known.has(command) ? null : problem()),
    async run({ command, timeout: asked = TIMEOUT_SECONDS }, context) {
      const timeout = asked || TIMEOUT_MAX_SECONDS;
      const why_not = await problem();
      if (why_not !== null && !known.has(command)) return { status: 'error', output: why_not };
      const confined = why_not === null ? sandbox : null;
      const { cwd, spill_dir: shared } = context;
      const {
        budget,
        confine,
        notes: aside,
      } = await boundCommand({ sandbox: confined, limits }, { cwd, shared });
      const capture = new OutputCapture(context.spill_dir, context.onOutput);
      context.soFar?.(() => capture.soFar());
      let sandbox_error = '';
      const end = await runProcess({
        file: findShell(),
        args: shellArguments(command),
        place: context.cwd,
        env: commandEnvironment(context.env_allow),
        signal: context.signal,
        tree: context.agent.root_id,
        timeout_ms: timeout * 1000,
        onOutput: (chunk) => capture.push(chunk),
        budget,
        confine,
        ...(confined === null
          ? {}
          : {
              // Only the sandbox's own messages arrive here: the command's errors go to standard output (`shellArguments`).
              onErrorOutput: (chunk) => {
                if (sandbox_error.length < SANDBOX_ERROR_MAX) sandbox_error += chunk.toString();
              },
            }),
      });
      if (/^(bwrap|landlock): /.test(sandbox_error))
        return {
          status: 'error',
          output: `the command did not run, since its sandbox could not be made: ${sandbox_error.trim()}`,
        };
      const output = capture.finish();
      const result = { ...bashResult(end, output, timeout, cwd), ...shownFile(command, output, cwd) };
      const notes = [budget?.note, ...aside];
      if (confined !== null && (result.status === 'error' || MISSING.test(result.output)))
        notes.push(...confined.missed(`${command}\n${result.output}`, cwd, shared));
      if (result.status === 'error') {
        if (confined !== null && BLOCKED.test(result.output)) notes.push(sandboxText(confined.settings));
        if (end.end === 'exited') notes.push(budget?.hint(result.output, result.exit_code));
        notes.push(unattendedAdvice(result.output.replace(/\[[^\n]*\]$/, '') || command));
      }
      const said = notes.filter(Boolean).map((one) => `\n[${one}]`);
      return said.length === 0 ? result : { ...result, output: result.output + said.join('') };
    },
  });
}
