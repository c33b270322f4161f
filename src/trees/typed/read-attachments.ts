import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { decide } from '../../permissions/decide.ts';
import { type Policy, policyOf } from '../../permissions/policy.ts';
import { printablePath } from '../../permissions/printable-path.ts';
import { meantPath } from '../../processes/working-folder.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import type { Attachment } from '../../records/conversation/attached-text.ts';
import { orElse } from '../../records/coppice-error.ts';
import type { ServerOffers } from '../../records/server-offers.ts';
import { serversOf } from '../../records/server-tools.ts';
import type { ToolContext } from '../../records/tool.ts';
import { permissionOf } from '../../tools/built-in-permissions.ts';
import { NO_WAIT, readStart } from '../../tools/files/bounded-file.ts';
import { imageTypeOf } from '../../tools/files/file-kind.ts';
import { readTool } from '../../tools/files/read.ts';
import { readImageTool } from '../../tools/files/read-image.ts';
import { type Mention, namesOf } from './mentions.ts';

const COUNT_MAX = 20;
const BYTES_MAX = 400 * 1024;

/** Where mentions are looked up: files in the folder, resources at the MCP servers that `offers` asks. */
export interface MentionPlace {
  readonly folder: string;
  readonly config: AgentConfig;
  readonly offers?: () => Promise<ServerOffers | null>;
}

export type ReadAttachments =
  /** `left_out`: mentions of others that the person has not made, and that lead out of the folder. */
  | {
      readonly ok: true;
      readonly attachments: readonly Attachment[];
      readonly left_out: readonly string[];
    }
  /** Nothing may be sent: the person decides what to leave out. */
  | { readonly ok: false; readonly problem: string };

/**
 * Reads what a message attaches: each existing `@file` and `@folder` as the tool `read` shows it, pictures as `read_image` does, and `@SERVER:URI` as the MCP server
 * gives it. Files that the rules deny the agent are refused, and so are binary files; an `@` that names nothing is plain text. `foreign`: mentions that
 * the person has not written, which attach only files of the folder.
 */
export async function readMentioned(
  mentions: readonly Mention[],
  place: MentionPlace,
  foreign: readonly Mention[] = [],
): Promise<ReadAttachments> {
  const { folder, config } = place;
  const found = new Set<string>();
  const resources = new Map<string, Mention>();
  const left_out: string[] = [];
  for (const mention of mentions) {
    const path = placeOf(mention, folder);
    const is_resource = path === null && serverIn(mention, config) !== null;
    const is_foreign =
      foreign.includes(mention) && (is_resource || (path !== null && isOutside(path, folder)));
    if (is_foreign) left_out.push(mention.name);
    else if (path !== null) found.add(path);
    else if (is_resource) resources.set(mention.name, mention);
  }
  const count = found.size + resources.size;
  if (count > COUNT_MAX)
    return { ok: false, problem: `${count} files are attached; the maximum is ${COUNT_MAX}` };
  const policy = policyOf(config);
  const attachments: Attachment[] = [];
  let bytes = 0;
  const reads = [
    ...[...found].map((path) => async () => [await readOne(path, folder, policy)]),
    ...[...resources.values()].map((mention) => () => readResource(mention, place)),
  ];
  for (const read of reads) {
    for (const one of await read()) {
      if ('problem' in one) return { ok: false, problem: one.problem };
      attachments.push(one);
      bytes += Buffer.byteLength(one.text);
    }
    if (bytes > BYTES_MAX)
      return { ok: false, problem: `what is attached is too long: the maximum is ${BYTES_MAX / 1024} KB` };
  }
  return { ok: true, attachments, left_out };
}

/** Absolute path of the file or folder that a mention names; null if there is none. */
function placeOf(mention: Mention, folder: string): string | null {
  for (const name of namesOf(mention)) {
    const path = resolve(folder, meantPath(name));
    if (existsSync(path)) return path;
  }
  return null;
}

function isOutside(path: string, folder: string): boolean {
  const within = relative(folder, path);
  return within.startsWith('..') || isAbsolute(within);
}

/** The server of the agent whose resource a mention names; null if it names none. */
function serverIn({ name }: Mention, config: AgentConfig): string | null {
  const at = name.indexOf(':');
  return serversOf(config).find((server) => server === name.slice(0, at) && at < name.length - 1) ?? null;
}

async function readResource(
  mention: Mention,
  { config, offers }: MentionPlace,
): Promise<readonly (Attachment | { readonly problem: string })[]> {
  const server = serverIn(mention, config);
  const offered = await offers?.();
  if (server === null || offered == null) return [];
  const uris = namesOf(mention).map((name) => name.slice(server.length + 1));
  const known = uris.find((uri) => offered.resources.some((one) => one.server === server && one.uri === uri));
  try {
    return await offered.resource(server, known ?? uris.at(-1) ?? '');
  } catch (error) {
    return [{ problem: (error as Error).message }];
  }
}

async function readOne(
  path: string,
  folder: string,
  policy: Policy,
): Promise<Attachment | { readonly problem: string }> {
  const within = relative(folder, path);
  const outside = isOutside(path, folder);
  // Outside of the folder no rule of the agent applies: it is the person who reads there.
  const cwd = outside ? dirname(path) : folder;
  const asked = outside ? basename(path) : within === '' ? '.' : within;
  const denied = (tool: string, relative_path: string): string | undefined => {
    if (outside) return undefined;
    const { verdict, rule } = decide(policy, permissionOf(tool), relative_path);
    return verdict === 'deny' ? rule : undefined;
  };
  const name = printablePath(outside ? path : asked);
  const context = { ...NOBODY, cwd, denied };
  if (isPicture(path)) {
    const seen = await readImageTool.run({ path: asked }, context);
    if (seen.status !== 'ok') return { problem: seen.output };
    const [image] = seen.images ?? [];
    return { label: `${name} picture`, text: seen.output, ...(image === undefined ? {} : { image }) };
  }
  const result = await readTool.run({ path: asked }, context);
  if (result.status !== 'ok') return { problem: result.output };
  return { label: labelOf(name, statSync(path).isDirectory(), result.output), text: result.output };
}

/** Whether a file is a picture, by its first bytes: its name proves nothing. */
function isPicture(path: string): boolean {
  return orElse(() => {
    const file = openSync(path, NO_WAIT);
    try {
      return imageTypeOf(readStart(file, 16).content) !== undefined;
    } finally {
      closeSync(file);
    }
  }, false);
}

/** Tool context for reads by the person, not by an agent. */
export const NOBODY: Omit<ToolContext, 'cwd'> = {
  spill_dir: '/nowhere',
  signal: new AbortController().signal,
  agent: { id: '', name: '', root_id: '' },
  env_allow: [],
  onOutput: () => undefined,
};

function labelOf(name: string, is_folder: boolean, shown: string): string {
  const rows = shown.split('\n');
  if (is_folder) return `${name.replace(/\/?$/, '/')} ${grouped(rows.length - 1, 'entry', 'entries')}`;
  const lines = rows.filter((row) => /^\d+\t/.test(row)).length;
  const cut = rows.at(-1)?.startsWith('[more lines follow') === true;
  return `${name} ${cut ? 'first ' : ''}${grouped(lines, 'line', 'lines')}`;
}

function grouped(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
