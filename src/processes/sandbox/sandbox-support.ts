import { execFile } from 'node:child_process';

const OFF =
  'allow commands to run without a sandbox: "sandbox": {"mode": "off"} in the configuration, or COPPICE_SANDBOX=off';

/** Tries out bubblewrap; resolves to why no program can be confined on this machine, and what to do; null if it works. */
export async function sandboxFault(): Promise<string | null> {
  if (process.platform !== 'linux')
    return `there is no sandbox for ${process.platform} yet, so no command runs: ${OFF}`;
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return `there is no sandbox for ${process.arch} yet, so no command runs: ${OFF}`;
  const failure = await new Promise<string | null>((resolve) => {
    const args = [
      '--unshare-all',
      '--unshare-user',
      '--disable-userns',
      '--ro-bind',
      '/',
      '/',
      '--proc',
      '/proc',
    ];
    execFile('bwrap', [...args, '--dev', '/dev', '--', 'true'], { timeout: 10_000 }, (error, _, stderr) => {
      if (error === null) return resolve(null);
      resolve(
        error.code === 'ENOENT' ? 'bubblewrap (bwrap) is not installed' : stderr.trim() || error.message,
      );
    });
  });
  return failure === null
    ? null
    : `the sandbox cannot start: ${failure}. Install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap), let it use user namespaces (docs/sandbox.md), or ${OFF}`;
}
