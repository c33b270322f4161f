import { cutText } from '../../records/text/cut-text.ts';
import { fieldsOf } from '../../records/text/json-fields.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import type { McpServerConfig } from './mcp-config.ts';
import { type ToolSchema, toolSchema } from './tool-schema.ts';

/** A server's tool as it was listed, within bounds. */
export interface ListedTool extends ToolSchema {
  /** The name that the server itself uses. */
  readonly name: string;
  /** Untrusted text, with control and invisible characters removed. */
  readonly description: string;
  /** The schema as the server gave it. */
  readonly own_input: unknown;
  /** The server's claim that the tool is read-only; not verified. */
  readonly reads_only: boolean;
}

/** A tool that cannot be offered to models. */
export interface SetAside {
  readonly name: string;
  /** The end of a sentence about it, untrusted. */
  readonly why: string;
}

/** Called with the tools that were set aside of each listing of a server. */
export type OnAside = (name: string, config: McpServerConfig, aside: readonly SetAside[]) => void;

const NAME_MAX = 256;
const DESCRIPTION_MAX = 4_000;

/** `at`: the tool's place in the listing, by which it is named if it has no name. `has_headers`: whether fields may be sent as headers. */
export function listedTool(given: unknown, at: number, has_headers: boolean): ListedTool | SetAside {
  const { name, title, description, inputSchema, annotations } = fieldsOf(given);
  if (typeof name !== 'string' || name === '') return { name: `tool ${at + 1}`, why: 'it has no name' };
  if (name.length > NAME_MAX)
    return {
      name: `${cutText(name, 40)}…`,
      why: `its name has more than ${NAME_MAX} characters`,
    };
  const schema = toolSchema(inputSchema, has_headers);
  if (typeof schema === 'string') return { name, why: schema };
  const said = [description, title].find((one) => typeof one === 'string') ?? '';
  const text = cleanLines(String(said).slice(0, 2 * DESCRIPTION_MAX)).trim();
  return {
    ...schema,
    name,
    description: text.length > DESCRIPTION_MAX ? `${cutText(text, DESCRIPTION_MAX)}…` : text,
    own_input: inputSchema,
    reads_only: fieldsOf(annotations).readOnlyHint === true,
  };
}

/** Names the tools that are set aside, in one sentence for people; null if there are none. */
export function setAsideTold(server: string, aside: readonly SetAside[]): string | null {
  if (aside.length === 0) return null;
  const shown = aside.slice(0, 10).map(({ name, why }) => `${clean(name)} (${clean(why)})`);
  const more = aside.length > shown.length ? ` and ${aside.length - shown.length} more` : '';
  const what = aside.length === 1 ? 'a tool is' : `${aside.length} tools are`;
  return `the MCP server ${server}: ${what} set aside: ${shown.join(', ')}${more}`;
}
