import { spawnSync } from 'node:child_process';
import { Sandbox, type SandboxSettings } from '../../../src/processes/sandbox/sandbox.ts';

/** A sandbox with the usual settings. */
export function testSandbox(settings: Partial<SandboxSettings> = {}): Sandbox {
  return new Sandbox({
    mode: 'workspace',
    write: [],
    read: [],
    hidden: [],
    hosts: [],
    sockets: false,
    ...settings,
  });
}

const tried = spawnSync(
  'bwrap',
  ['--unshare-all', '--unshare-user', '--ro-bind', '/', '/', '--proc', '/proc', 'true'],
  { encoding: 'utf8' },
);

/** Why tests of the sandbox are skipped on this machine, which the test runner prints; false if they run. */
export const NO_SANDBOX: string | false =
  tried.status === 0 ? false : `bubblewrap cannot be used: ${tried.error?.message ?? tried.stderr.trim()}`;
