import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const NODE_FOLDER = dirname(process.execPath);

/** Rules of the children's scripted model. */
const RULES = {
  rules: [
    { when: { user: 'slow' }, delay_ms: 6_000, say: 'slowly did {{user.TASK (\\w+)}}' },
    { say: 'did {{user.TASK (\\w+)}}' },
  ],
};

/** Environment of everything that is started: its own home, and nothing of the caller's except the path. */
export function environment(
  home: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    PATH: `${NODE_FOLDER}:${process.env.PATH ?? ''}`,
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    XDG_CACHE_HOME: join(home, '.cache'),
    ...more,
  };
}

/** Installs packages into a folder that later runs reuse. Throws with the end of npm's error output. */
export function installed(into: string, name: string, ...specs: readonly string[]): string {
  const folder = join(into, name);
  const stamp = join(folder, 'installed');
  mkdirSync(folder, { recursive: true });
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === specs.join(' ')) return folder;
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', ...specs], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${NODE_FOLDER}:${process.env.PATH ?? ''}` },
  });
  if (status !== 0) throw new Error(`npm install ${specs.join(' ')}: ${stderr.slice(-400)}`);
  writeFileSync(stamp, specs.join(' '));
  return folder;
}

export function newPlace(into: string, name: string): { readonly home: string; readonly work: string } {
  const home = mkdtempSync(join(into, `${name}-home-`));
  const work = join(home, 'work');
  mkdirSync(work);
  writeFileSync(join(home, 'rules.json'), JSON.stringify(RULES));
  return { home, work };
}

/** `coppice mcp` of this repository, whose agents answer from the rules. */
export function serverCommand(home: string): { command: string; args: string[] } {
  return {
    command: process.execPath,
    args: [MAIN, 'mcp', '--model', `scripted:${join(home, 'rules.json')}`],
  };
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

export function start(
  command: string,
  args: readonly string[],
  { cwd, env, limit_ms = 600_000 }: { cwd: string; env: Record<string, string>; limit_ms?: number },
): Started {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // Ten times what it takes: on a busy machine a program needs minutes before it first asks its model.
  const timer = setTimeout(() => {
    stderr += `\nended by this trial after ${limit_ms / 1_000} s`;
    killTree(child.pid as number);
  }, limit_ms);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
  return { pid: child.pid as number, ended };
}

/** Sends SIGKILL to a process and its descendants. Returns how many they are. */
export function killTree(pid: number): number {
  const pids = [pid, ...below(pid)];
  for (const one of pids)
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  return pids.length;
}

function below(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name))
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      } catch {
        // The process has ended.
      }
  const found = [pid];
  for (const above of found) for (const [one, parent] of parents) if (parent === above) found.push(one);
  return found.slice(1);
}

/** Agents that the ledger of this home holds. */
export async function agentsIn(
  home: string,
  work: string,
): Promise<readonly { name: string; state: string }[]> {
  const { ended } = start(process.execPath, [MAIN, 'ps', '--all', '--json'], {
    cwd: work,
    env: environment(home),
  });
  const { stdout } = await ended;
  try {
    return (JSON.parse(stdout) as { agents: { name: string; state: string }[] }).agents;
  } catch {
    return [];
  }
}

/** Processes whose command line or environment names this folder: of programs that were started with it as their home. */
export function processesWith(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const words = ['cmdline', 'environ']
        .map((file) => readFileSync(`/proc/${name}/${file}`, 'utf8'))
        .join('');
      return words.includes(folder) ? [Number(name)] : [];
    } catch {
      return []; // The process has ended.
    }
  });
}
