import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { containPath, openContained } from '../../../permissions/path-containment.ts';
import { printablePath } from '../../../permissions/printable-path.ts';
import { projectFolders } from '../../../processes/working-folder.ts';
import type { ProjectServer } from '../../../records/server-tools.ts';
import { cutText } from '../../../records/text/cut-text.ts';
import { isJsonObject, parseJson } from '../../../records/text/json-text.ts';
import { clean } from '../../../render/clean.ts';
import { readOne, reasonOf } from '../../../tools/files/bounded-file.ts';
import { hashFiles } from '../../../tools/files/skill-folder.ts';
import {
  type McpServerConfig,
  mcpServerConfig,
  serverNameFrom,
} from '../../../tools/mcp-servers/mcp-config.ts';
import type { ProjectPart, ProjectPlaces } from './project-places.ts';
import type { FoundFiles } from './read-agent-files.ts';

const FILE = '.mcp.json';
const SERVERS_MAX = 50;

/** A file with MCP servers, and whether they may be used. */
export interface ServersFile extends ProjectPart {
  readonly servers: readonly ProjectServer[];
}

/** Reads the MCP servers of a project from the nearest `.mcp.json`, up to its outermost folder. An invalid file or entry becomes a notice, not an error. */
export function readServersFile({ folder, home, trust }: ProjectPlaces): FoundFiles<ServersFile> {
  const folders = projectFolders(folder, home);
  const root = folders[0] ?? folder;
  const path = folders
    .toReversed()
    .map((place) => join(place, FILE))
    .find(existsSync);
  if (path === undefined) return { files: [], notices: [] };
  const source = printablePath(relative(folder, path));
  try {
    const content = readOne(openContained(containPath(root, path)));
    const { servers, notices } = serversOf(new TextDecoder().decode(content));
    const hash = hashFiles([{ name: '', content }]);
    const about = servers.map(({ name, definition }) => aboutServer(name, definition)).join('; ');
    const state = trust.stateOf(path, hash);
    const file: ServersFile = { kind: 'servers', path, source, hash, trust: state, about, servers };
    return { files: [file], notices: notices.map((notice) => `${source}: ${notice}`) };
  } catch (error) {
    return { files: [], notices: [`${source} is ignored: ${reasonOf(error)}`] };
  }
}

function serversOf(text: string): { servers: ProjectServer[]; notices: string[] } {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`it is not valid JSON: ${parsed.error}`);
  const entries = isJsonObject(parsed.value) ? parsed.value.mcpServers : undefined;
  if (!isJsonObject(entries)) throw new Error('it has no object "mcpServers"');
  const servers = new Map<string, ProjectServer>();
  const notices: string[] = [];
  for (const [written, entry] of Object.entries(entries)) {
    const name = serverNameFrom(written);
    const shown = JSON.stringify(cutText(clean(written), 60));
    if (servers.size >= SERVERS_MAX) {
      notices.push(`at most ${SERVERS_MAX} servers are used; ${shown} and those after it are ignored`);
      break;
    }
    if (name === null || servers.has(name)) {
      notices.push(`the server ${shown} is ignored: its name is invalid or already taken`);
      continue;
    }
    const definition = definitionOf(entry);
    if (typeof definition === 'string') notices.push(`the server ${shown} is ignored: ${definition}`);
    else servers.set(name, { name, definition });
  }
  return { servers: [...servers.values()], notices };
}

/** Returns the definition without keys of other programs; a text says what is wrong with the entry. */
function definitionOf(entry: unknown): McpServerConfig | string {
  if (!isJsonObject(entry)) return 'it must be an object';
  const { command, args, env, url, headers, type } = entry;
  if (type === 'sse') return 'the old transport "sse" is not supported';
  const known = Object.entries({ command, args, env, url, headers }).filter(
    ([, value]) => value !== undefined,
  );
  const checked = mcpServerConfig.safeParse(Object.fromEntries(known));
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  return `${issue?.path.join('.') || 'it'}: ${issue?.message}`;
}

/** Full text of what would be run or connected to, for the person who decides on it. */
export function aboutServer(
  name: string,
  { command, args = [], env = {}, url, headers = {} }: McpServerConfig,
): string {
  const set = [...Object.entries(env), ...Object.entries(headers)].map(([key, value]) => `${key}=${value}`);
  const what = url ?? [command, ...args].join(' ');
  return `${name}: ${what}${set.length === 0 ? '' : ` (${set.join(', ')})`}`;
}
