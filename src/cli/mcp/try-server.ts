import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, relative } from 'node:path';
import { commandLine } from '../../models/command-line.ts';
import { meantPath } from '../../processes/working-folder.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import type { McpServerConfig } from '../../tools/mcp-servers/mcp-config.ts';
import type { Context } from '../setup/context.ts';
import { confirm } from '../setup/standard-input.ts';
import { type Tested, testServer } from './mcp-test.ts';

interface Needs {
  readonly hosts: readonly string[];
  readonly writable: readonly string[];
}

const NPM: Needs = { hosts: ['registry.npmjs.org'], writable: ['~/.npm'] };
const PYPI = ['pypi.org', 'files.pythonhosted.org'];
const UV: Needs = { hosts: PYPI, writable: ['~/.cache/uv', '~/.local/share/uv'] };
/** Programs that fetch the server before they start it. */
const LAUNCHERS: Readonly<Record<string, Needs>> = {
  ...{ npx: NPM, npm: NPM, uvx: UV, uv: UV },
  bunx: { ...NPM, writable: ['~/.bun'] },
  pnpm: { ...NPM, writable: ['~/.cache/pnpm', '~/.local/share/pnpm'] },
  pipx: { hosts: PYPI, writable: ['~/.cache/pipx', '~/.local'] },
};
/** A launcher that cannot reach its registry tries for minutes. */
const LAUNCHER_SECONDS = 10;
/** Time for a launcher that may fetch the server. */
const FETCH_SECONDS = 120;

/** Starts a new server as agents would, and finds out what it needs. Returns its entry, with what the person allowed. Throws if it does not work. */
export async function tryServer(
  context: Context,
  name: string,
  entry: McpServerConfig,
): Promise<readonly [McpServerConfig, Tested]> {
  const launcher = LAUNCHERS[basename(entry.command ?? '')];
  const asks = !context.json && process.stdin.isTTY === true;
  const run = (config: McpServerConfig, seconds: number) => {
    const where = config.sandbox === 'off' ? 'without a sandbox' : 'in the sandbox';
    process.stderr.write(`trying ${name} ${where}: ${clean(serverCommandLine(config))}\n`);
    const timed = { startTimeoutSeconds: seconds, ...config };
    return testServer({ name, config: timed, source: 'config', state: 'used' }, context);
  };
  const is_bare = launcher !== undefined && entry.hosts === undefined && entry.sandbox !== 'off';
  let tested = await run(entry, is_bare ? LAUNCHER_SECONDS : FETCH_SECONDS);
  if (tested.ok) return [entry, tested];
  const offers = offersFor(entry, is_bare ? launcher : undefined, tested.error ?? '');
  for (const { config, what } of offers) {
    if (!asks) break;
    process.stderr.write(`${name} ${tested.error}\n`);
    if (!(await confirm(`Try it ${what}? [y] try  [N] no: `))) continue;
    makeFolders(config);
    tested = await run(config, FETCH_SECONDS);
    if (tested.ok) return [config, tested];
  }
  const again = (config: McpServerConfig, more = '') =>
    `  ${more}coppice mcp add ${name} ${flagsOf(config)}-- ${serverCommandLine(config)}`;
  throw new CoppiceError('E_SERVER', `${name} was not added: it ${tested.error}`, {
    hint: [
      ...offers.flatMap(({ config, what }) => [`To try it ${what}:`, again(config, folders(config))]),
      `To add it as it is: coppice mcp add --untried …`,
    ].join('\n'),
  });
}

function offersFor(entry: McpServerConfig, launcher: Needs | undefined, said: string) {
  if (entry.sandbox === 'off' || said.startsWith('could not be started')) return [];
  const needs = launcher ?? cluesIn(said);
  const hosts = [...new Set([...(entry.hosts ?? []), ...needs.hosts])];
  const writable = [...new Set([...(entry.writable ?? []), ...needs.writable])];
  const config = { ...entry, ...(hosts.length > 0 && { hosts }), ...(writable.length > 0 && { writable }) };
  const reach = needs.hosts.length > 0 ? [`that may reach ${needs.hosts.join(' and ')}`] : [];
  const write = needs.writable.length > 0 ? [`that may write in ${needs.writable.join(' and ')}`] : [];
  return [
    ...(reach.length + write.length > 0
      ? [{ config, what: `in a sandbox ${[...reach, ...write].join(' and ')}` }]
      : []),
    { config: { ...entry, sandbox: 'off' as const }, what: 'without a sandbox, with all your rights' },
  ];
}

/** What a program says that it could not reach or write. */
function cluesIn(said: string): Needs {
  const hosts = said.matchAll(
    /(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|resolve(?: host)?:?)\s+['"]?([a-z\d-]+(?:\.[a-z\d-]+)+)/gi,
  );
  const paths = said.matchAll(
    /(?:EROFS|EACCES|read-only file system|permission denied)[^'"]*['"](\/[^'"]+)/gi,
  );
  const places = [...paths].map(([, path = '']) => relative(homedir(), path).split('/'));
  const writable = places.flatMap(([first = '', ...rest]) =>
    first === '..' || first === '' || rest.length === 0
      ? []
      : [`~/${[first, ...(first === '.cache' || first === '.config' ? rest.slice(0, 1) : [])].join('/')}`],
  );
  return { hosts: [...new Set([...hosts].map(([, host = '']) => host))], writable: [...new Set(writable)] };
}

/** The sandbox lets programs write only in folders that exist. */
function makeFolders({ writable = [] }: McpServerConfig): void {
  for (const path of writable) if (path.startsWith('~/')) mkdirSync(meantPath(path), { recursive: true });
}

function folders({ writable = [], sandbox }: McpServerConfig): string {
  return sandbox === 'off' || writable.length === 0 ? '' : `mkdir -p ${writable.join(' ')} && `;
}

function serverCommandLine({ command = '', args = [] }: McpServerConfig): string {
  return commandLine([command, ...args]);
}

/** The options of `mcp add` that lead to this entry; values of variables are left out. */
function flagsOf({ env = {}, envAllow = [], hosts = [], writable = [], sandbox }: McpServerConfig): string {
  const flags = [
    ...Object.keys(env).map((name) => `--env ${name}=…`),
    ...envAllow.map((name) => `--env-allow ${name}`),
    ...hosts.map((host) => `--host ${commandLine([host])}`),
    ...writable.map((path) => `--writable ${path}`),
    ...(sandbox === 'off' ? ['--sandbox off'] : []),
  ];
  return flags.map((flag) => `${flag} `).join('');
}
