/**
 * Tools of MCP servers are named `SERVER__TOOL` (docs/mcp.md). In an agent's list of tools, `SERVER__*` matches all tools of a server, and
 * `SERVER__get_*` those with that prefix. Names of servers neither contain `__` nor end with `_`, so the name of a tool identifies its server.
 */
const BETWEEN = '__';

/** Whether the name has the form of a tool of an MCP server. Built-in tools do not; a tool that a program registers may. */
export function isServerTool(name: string): boolean {
  return serverOf(name) !== null;
}

export function serverOf(name: string): string | null {
  const at = name.indexOf(BETWEEN);
  return at > 0 && at + BETWEEN.length < name.length ? name.slice(0, at) : null;
}

/** The servers of which an agent has tools, sorted. */
export function serversOf({ tools }: Pick<Chosen, 'tools'>): string[] {
  return [...new Set(tools.flatMap((name) => serverOf(name) ?? []))].sort();
}

/** Pattern that matches all tools of a server. */
export function toolsOfServer(server: string): string {
  return `${server}${BETWEEN}*`;
}

export function serverTool(server: string, tool: string): string {
  return `${server}${BETWEEN}${tool}`;
}

/** Whether an entry of a list of tools, a name or a pattern, matches this name. */
export function means(entry: string, name: string): boolean {
  return entry.endsWith('*') ? isServerTool(entry) && name.startsWith(entry.slice(0, -1)) : entry === name;
}

/** Intersection of two lists of tools, in the order of the first. */
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

/** Removes denied tools. Denied tools that a remaining pattern would still match are returned in `without_tools`, with those in `before`. */
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

/** An MCP server that a project defines and the user trusted, as written in the project's file. */
export interface ProjectServer {
  readonly name: string;
  readonly definition: Readonly<Record<string, unknown>>;
}
