import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { decide } from '../../../permissions/decide.ts';
import { type Policy, policyOf } from '../../../permissions/policy.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import type { AgentConfig } from '../../../records/agent/agent.ts';
import type { Attachment } from '../../../records/conversation/attached-text.ts';
import type { ToolContext } from '../../../records/tool.ts';
import { permissionOf } from '../../../tools/built-in-permissions.ts';
import { imageTypeOf } from '../../../tools/files/file-kind.ts';
import { readTool } from '../../../tools/files/read.ts';
import { readImageTool } from '../../../tools/files/read-image.ts';
import { type Mention, mentionsIn, namesOf } from './mentions.ts';

const COUNT_MAX = 20;
const BYTES_MAX = 400 * 1024;

export type ReadAttachments =
  | { readonly ok: true; readonly attachments: readonly Attachment[] }
  /** Nothing may be sent: the person decides what to leave out. */
  | { readonly ok: false; readonly problem: string };

/**
 * Reads what a message attaches: each existing `@file` and `@folder` as the tool `read` shows it, and pictures as `read_image` does. Files that the rules deny
 * the agent are refused, and so are binary files; an `@` that names nothing is plain text.
 */
export async function readMentioned(
  text: string,
  folder: string,
  config: AgentConfig,
): Promise<ReadAttachments> {
  const found = new Set(mentionsIn(text).flatMap((mention) => placeOf(mention, folder) ?? []));
  if (found.size > COUNT_MAX)
    return { ok: false, problem: `${found.size} files are attached; the maximum is ${COUNT_MAX}` };
  const policy = policyOf(config);
  const attachments: Attachment[] = [];
  let bytes = 0;
  for (const path of found) {
    const read = await readOne(path, folder, policy);
    if ('problem' in read) return { ok: false, problem: read.problem };
    attachments.push(read);
    bytes += Buffer.byteLength(read.text);
    if (bytes > BYTES_MAX)
      return { ok: false, problem: `what is attached is too long: the maximum is ${BYTES_MAX / 1024} KB` };
  }
  return { ok: true, attachments };
}

/** Absolute path of the file or folder that a mention names; null if there is none. */
function placeOf(mention: Mention, folder: string): string | null {
  for (const name of namesOf(mention)) {
    const path = resolve(folder, name.startsWith('~/') ? join(homedir(), name.slice(2)) : name);
    if (existsSync(path)) return path;
  }
  return null;
}

async function readOne(
  path: string,
  folder: string,
  policy: Policy,
): Promise<Attachment | { readonly problem: string }> {
  const within = relative(folder, path);
  const outside = within.startsWith('..') || isAbsolute(within);
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
  let file: number | undefined;
  try {
    const bytes = Buffer.alloc(16);
    // Opening a pipe that has no writer must not block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    return fstatSync(file).isFile() && readSync(file, bytes) > 0 && imageTypeOf(bytes) !== undefined;
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Tool context for reads by the person, not by an agent. */
const NOBODY: Omit<ToolContext, 'cwd'> = {
  spill_dir: '/nowhere',
  signal: new AbortController().signal,
  agent: { id: '', name: '', root_id: '' },
  env_allow: [],
  onOutput: () => undefined,
};

function labelOf(name: string, is_folder: boolean, shown: string): string {
  const rows = shown.split('\n');
  if (is_folder) return `${name.replace(/\/?$/, '/')} ${counted(rows.length - 1, 'entry', 'entries')}`;
  const lines = rows.filter((row) => /^\d+\t/.test(row)).length;
  const cut = rows.at(-1)?.startsWith('[more lines follow') === true;
  return `${name} ${cut ? 'first ' : ''}${counted(lines, 'line', 'lines')}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
