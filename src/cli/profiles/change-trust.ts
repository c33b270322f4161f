import { resolve } from 'node:path';
import { workingFolder } from '../../processes/working-folder.ts';
import type { Profile } from '../../records/agent/profile.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import type { Context } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { type AgentFiles, parseAgentFiles } from '../setup/profiles/read-agent-files.ts';
import { type ProjectAgents, readProjectAgents, Trust } from '../setup/profiles/trust.ts';
import { confirm } from '../setup/standard-input.ts';

export interface TrustOptions {
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
  if (!context.json) show(project, read);
  if (project.trust === 'nothing' || project.trust === 'trusted') {
    report(context, project, read, project.trust === 'trusted');
    return 0;
  }
  if (options.yes !== true) {
    if (context.json || !process.stdin.isTTY)
      throw new CoppiceError('E_USAGE', 'nobody can be asked here, so nothing was trusted', {
        hint: 'Read the files, then: coppice trust --yes',
      });
    if (!(await confirm(`Trust these files in ${clean(folder)}? [y] trust  [N] leave out: `))) {
      process.stdout.write('not trusted\n');
      return 1;
    }
  }
  new Trust(context.data_folder).accept(folder, project.hash, Date.now());
  report(context, project, read, true);
  return 0;
}

function revoke(context: Context, folder: string): number {
  const revoked = new Trust(context.data_folder).revoke(folder);
  if (context.json) printJson({ schema: 'coppice/trust/v1', folder, trusted: false, revoked });
  else process.stdout.write(`${clean(folder)} ${revoked ? 'is trusted no longer' : 'was not trusted'}\n`);
  return 0;
}

function report(context: Context, project: ProjectAgents, read: AgentFiles, trusted: boolean): void {
  const { folder, hash, raw } = project;
  if (context.json) {
    const files = raw.files.map((file) => file.source);
    printJson({ schema: 'coppice/trust/v1', folder, trusted, hash, files, ...read });
  } else if (trusted)
    process.stdout.write(
      project.trust === 'trusted' ? 'trusted already\n' : 'trusted, until one of them changes\n',
    );
}

function show(project: ProjectAgents, read: AgentFiles): void {
  const { raw, folder, trust: state, trusted_at } = project;
  const lines: string[] = [];
  if (state === 'nothing') lines.push(`nothing to trust: no agent files in ${folder}/.coppice/agents`);
  if (state === 'changed') lines.push(`changed since you trusted this folder on ${trusted_at?.slice(0, 10)}`);
  for (const { source } of raw.files) {
    const profile = read.profiles.find((one) => one.source === source);
    lines.push(source, ...(profile === undefined ? [] : describe(profile)));
  }
  lines.push(...read.notices);
  process.stdout.write(lines.map((line) => `${whole(line)}\n`).join(''));
}

/** What allow rules mean (docs/profiles.md). */
const GRANTS =
  'with --profile: what is allowed here, unasked, unless a rule of yours says otherwise; below another agent: no more than that one may do';

function describe(profile: Profile): string[] {
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

/** One line, uncut: the user must see all of what is accepted. */
function whole(line: string): string {
  return cleanLines(line).replaceAll(/[\n\t]+/g, ' ');
}
