import { resolve } from 'node:path';
import { Trust } from '../../permissions/grants/trust.ts';
import { workingFolder } from '../../processes/working-folder.ts';
import type { Profile } from '../../records/agent/profile.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import type { Context } from '../setup/context.ts';
import { printJson, printResult } from '../setup/output.ts';
import { loadProjectParts } from '../setup/profiles/project-parts.ts';
import type { ProjectPart } from '../setup/profiles/project-places.ts';
import { type AgentFiles, parseAgentFiles } from '../setup/profiles/read-agent-files.ts';
import { type ProjectAgents, readProjectAgents } from '../setup/profiles/trust.ts';
import { confirm } from '../setup/standard-input.ts';

interface TrustOptions {
  readonly yes?: boolean;
  readonly revoke?: boolean;
}

/** `coppice trust [FOLDER]`: shows the agent files of the folder and accepts exactly what was shown. */
export async function trust(
  context: Context,
  named: string | undefined,
  options: TrustOptions,
): Promise<number> {
  const folder = workingFolder(resolve(named ?? context.options.cwd ?? '.'));
  if (options.revoke === true) return revoke(context, folder);
  const project = readProjectAgents(folder, context.data_folder);
  const read = parseAgentFiles(project.raw);
  const found = partsOf(context, folder);
  const both = { project, read, ...found };
  const pending = isPending(project.trust) || found.parts.some(({ trust: state }) => isPending(state));
  if (!context.json) show(both);
  if (!pending) {
    const nothing = project.trust === 'nothing' && found.parts.length === 0;
    report(context, both, !nothing, 'already trusted');
    return 0;
  }
  if (options.yes !== true) {
    if (context.json || !process.stdin.isTTY)
      throw new CoppiceError('E_USAGE', 'a person must confirm this, so nothing was trusted', {
        hint: 'Read the files, then: coppice trust --yes',
      });
    if (!(await confirm(`Trust these files in ${clean(folder)}? [y] trust  [N] leave out: `))) {
      process.stdout.write('not trusted\n');
      return 1;
    }
  }
  const trusted = new Trust(context.data_folder);
  if (isPending(project.trust)) trusted.accept(folder, project.hash, Date.now());
  for (const { path, hash } of found.parts) trusted.accept(path, hash, Date.now());
  report(context, both, true, 'trusted, until one of them changes');
  return 0;
}

interface Shown {
  readonly project: ProjectAgents;
  readonly read: AgentFiles;
  readonly parts: readonly ProjectPart[];
  readonly notices: readonly string[];
}

function partsOf(context: Context, folder: string): Pick<Shown, 'parts' | 'notices'> {
  const { parts, faults } = loadProjectParts({ ...context, options: { cwd: folder } });
  return { parts: parts.filter(({ trust: state }) => state !== 'own'), notices: faults };
}

function isPending(state: string): boolean {
  return state === 'untrusted' || state === 'changed';
}

function revoke(context: Context, folder: string): number {
  const paths = [folder, ...partsOf(context, folder).parts.map(({ path }) => path)];
  const trusted = new Trust(context.data_folder);
  const revoked = paths.filter((path) => trusted.revoke(path)).length > 0;
  return printResult(context, { schema: 'coppice/trust/v1', folder, trusted: false, revoked }, () => [
    `${clean(folder)} ${revoked ? 'is no longer trusted' : 'was not trusted'}`,
  ]);
}

function report(context: Context, shown: Shown, trusted: boolean, text: string): void {
  const { project, read, parts } = shown;
  const { folder, hash, raw } = project;
  if (context.json) {
    const files = [...raw.files, ...parts].map((file) => file.source);
    const notices = [...read.notices, ...shown.notices];
    printJson({
      schema: 'coppice/trust/v1',
      folder,
      trusted,
      hash,
      files,
      profiles: read.profiles,
      notices,
    });
  } else if (trusted) process.stdout.write(`${text}\n`);
}

function show({ project, read, parts, notices }: Shown): void {
  const { raw, folder, trust: state, trusted_at } = project;
  const lines: string[] = [];
  if (state === 'nothing' && parts.length === 0)
    lines.push(
      `nothing to trust: no agent files in ${folder}/.coppice/agents, no instructions, no skills, no .mcp.json, no workflows, no hooks`,
    );
  if (state === 'changed') lines.push(`changed since you trusted this folder on ${trusted_at?.slice(0, 10)}`);
  for (const { source } of raw.files) {
    const profile = read.profiles.find((one) => one.source === source);
    lines.push(source, ...(profile === undefined ? [] : describeProfile(profile)));
  }
  for (const { source, kind, about, trust: since } of parts)
    lines.push(
      source,
      `  ${kind.padEnd(13)} ${about}${since === 'changed' ? '; changed since you trusted it' : ''}`,
    );
  lines.push(...read.notices, ...notices);
  // Each on one line, uncut: the user must see all of what is accepted.
  const uncut = lines.map((line) => `${cleanLines(line).replaceAll(/[\n\t]+/g, ' ')}\n`);
  process.stdout.write(uncut.join(''));
}

/** Explains allow rules to the person (docs/profiles.md). */
const GRANTS =
  'with --profile: allowed without asking, unless one of your own rules differs; as a sub-agent: at most what its creator may do';

function describeProfile(profile: Profile): string[] {
  const { permissions, system } = profile;
  const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
  const rows: readonly (readonly [string, string | null])[] = [
    ['name', profile.name],
    ['description', profile.description === '' ? 'none' : profile.description],
    ['model', profile.model ?? "the creator's"],
    ['thinking', profile.thinking],
    ['toolsets', profile.toolsets === null ? null : list(profile.toolsets)],
    ['tools', profile.tools === null ? "the creator's" : list(profile.tools)],
    ['denied tools', profile.deny_tools.length === 0 ? null : list(profile.deny_tools)],
    ...profile.require.map((text) => ['evidence', text] as const),
    ['turns', profile.turns === null ? null : String(profile.turns)],
    ['seconds', profile.run_ms === null ? null : String(profile.run_ms / 1000)],
    ...(['allow', 'ask', 'deny'] as const).flatMap((verdict) =>
      permissions[verdict].map((rule) => [`rule: ${verdict}`, rule] as const),
    ),
    ['grants', permissions.allow.length === 0 ? null : GRANTS],
    ['prompt', system === null ? 'none' : `${system.split('\n').length} lines`],
  ];
  return rows.flatMap(([head, text]) => (text === null ? [] : [`  ${head.padEnd(13)} ${text}`]));
}
