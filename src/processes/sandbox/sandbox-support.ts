import { type ExecFileException, execFile, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { LANDLOCK } from './bubblewrap.ts';
import { landlockProgram, PROCESSOR } from './landlock-program.ts';

const OFF =
  'allow commands to run without a sandbox: "sandbox": {"mode": "off"} in the configuration, or COPPICE_SANDBOX=off';

const NAMESPACES = ['--unshare-all', '--unshare-user', '--disable-userns'];
const TRIAL = [...NAMESPACES, '--ro-bind', '/', '/', '--proc', '/proc'];

/** What to do about a program that could not be started because too few files may be open; null for another reason. EINVAL: none may have the number that it needs. */
export function tooFewFiles({ code }: { readonly code?: unknown }): string | null {
  if (!['EMFILE', 'ENFILE', 'EINVAL'].includes(String(code))) return null;
  return `too few files may be open (${code}): raise the limit (ulimit -n) and start Coppice again`;
}

/** Tries out bubblewrap; resolves to why no program can be confined on this machine, and what to do; null if it works. */
export async function sandboxFault(): Promise<string | null> {
  if (process.platform !== 'linux')
    return `there is no sandbox for ${process.platform} yet, so no command runs: ${OFF}`;
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return `there is no sandbox for ${process.arch} yet, so no command runs: ${OFF}`;
  const args = [...TRIAL, '--dev', '/dev', '--', 'true'];
  const [error, stderr] = await new Promise<[ExecFileException | null, string]>((resolve) =>
    execFile('bwrap', args, { timeout: 10_000 }, (error, _, stderr) => resolve([error, stderr])),
  );
  if (error === null) return null;
  const few = tooFewFiles(error);
  if (few !== null) return `the sandbox cannot start: ${few}`;
  const failure =
    error.code === 'ENOENT' ? 'bubblewrap (bwrap) is not installed' : stderr.trim() || error.message;
  return `the sandbox cannot start: ${failure}. Install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap), let it use user namespaces (docs/sandbox.md), or ${OFF}`;
}

/** Resolves to what a sandbox that can start does not keep programs from on this machine, and what to do; null for nothing. */
export async function sandboxGap(): Promise<string | null> {
  const file = ['--tmpfs', '/proc/1', '--perms', '0555', '--file', '3', LANDLOCK];
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const;
  const child = spawn('bwrap', [...TRIAL, ...file, '--', LANDLOCK], { stdio: [...stdio] });
  (child.stdio[3] as Writable).on('error', () => {}).end(landlockProgram(PROCESSOR));
  const abi = await new Promise((resolve) => child.once('error', () => resolve(0)).once('exit', resolve));
  return Number(abi) >= 2
    ? null
    : 'but they can write to named pipes (FIFOs) of yours elsewhere: that needs Landlock (Linux 5.19, with "landlock" in /sys/kernel/security/lsm)';
}
