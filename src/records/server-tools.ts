/**
 * Tools of MCP servers are named `SERVER__TOOL` (docs/mcp.md). Where an agent's tools are listed, `SERVER__*` means all of a server, and
 * `SERVER__get_*` those that begin so. No name of a server holds or ends with what stands between, so that a name tells its server.
 */
const BETWEEN = '__';

/** A name of ours, or of a tool of a program that uses the library, is never of this form unless somebody registered it. */
export function isServerTool(name: string): boolean {
  return serverOf(name) !== null;
}

/** The server of a tool or of a pattern; null: it has none. */
export function serverOf(name: string): string | null {
  const at = name.indexOf(BETWEEN);
  return at > 0 && at + BETWEEN.length < name.length ? name.slice(0, at) : null;
}

/** All tools of a server. */
export function toolsOfServer(server: string): string {
  return `${server}${BETWEEN}*`;
}

export function serverTool(server: string, tool: string): string {
  return `${server}${BETWEEN}${tool}`;
}

/** Whether an entry of a list of tools means this one. */
export function means(entry: string, name: string): boolean {
  return entry.endsWith('*') ? isServerTool(entry) && name.startsWith(entry.slice(0, -1)) : entry === name;
}

/** What two lists of tools have in common, in the order of the first. */
export function commonTools(mine: readonly string[], theirs: readonly string[]): readonly string[] {
  const common = mine.flatMap((one) => {
    if (theirs.some((other) => means(other, one))) return [one];
    return theirs.filter((other) => means(one, other));
  });
  return [...new Set(common)];
}

interface Chosen {
  readonly tools: readonly string[];
  readonly without_tools?: readonly string[];
}

/** Whether an agent has this tool of a server. */
export function hasServerTool({ tools, without_tools = [] }: Chosen, name: string): boolean {
  return tools.some((entry) => means(entry, name)) && !without_tools.some((entry) => means(entry, name));
}

/** The tools that are left, and those that its lists mean but that it does not have. */
export function withoutTools(
  tools: readonly string[],
  denied: readonly string[],
  before: readonly string[] = [],
): Chosen {
  const kept = tools.filter((tool) => !denied.some((entry) => means(entry, tool)));
  const partly = denied.filter((entry) => isServerTool(entry) && kept.some((tool) => means(tool, entry)));
  const without = [...new Set([...before, ...partly])];
  return { tools: kept, ...(without.length === 0 ? {} : { without_tools: without }) };
}

/** A server that a project brought and the user trusted, as the file says it. */
export interface BroughtServer {
  readonly name: string;
  readonly definition: Readonly<Record<string, unknown>>;
}
