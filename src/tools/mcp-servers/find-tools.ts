import * as z from 'zod';
import { parseJson } from '../../records/text/json-text.ts';
import { quoteStamps } from '../../records/text/untrusted-text.ts';
import type { Tool } from '../../records/tool.ts';
import { nearestName } from '../../render/nearest-name.ts';
import { defineTool } from '../define-tool.ts';

export const FIND_TOOLS = 'find_tools';
export const CALL_TOOL = 'call_tool';

/** Maximum server tools that are described from the start; with more, agents search for them. */
export const DIRECT = 30;
const FOUND_MAX = 8;
/** Fraction of the best score below which results are noise. */
const RELEVANT = 0.4;
/** Maximum characters of the results; the first one is always shown. */
const TEXT_MAX = 30_000;
/** Maximum names of servers that the description lists. */
const SERVERS_SHOWN = 20;

/** The server tools that an agent has, as they are now. */
export interface Searched {
  readonly tools: () => Promise<readonly Tool[]>;
  /** Finds a tool by its name, without contacting any server. */
  readonly find: (name: string) => Tool | undefined;
  /** Servers that do not answer, or not yet. */
  readonly absent: () => readonly string[];
  /** Server names with their number of tools; fixed, because they are part of the prompt. */
  readonly servers: readonly string[];
}

const finding = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(500)
    .describe('Words that say what the tool should do, for example "create issue"; or its name.'),
});

const calling = z.strictObject({
  name: z.string().min(1).describe(`The name as ${FIND_TOOLS} gave it, for example tracker__create_issue.`),
  arguments: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .optional()
    .describe('An object that matches the input of the tool.'),
});

/**
 * Two tools that keep the descriptions of others out of the prompt: one finds tools and describes them in its answer, the other calls them. Both are the same
 * in every request, so what is found changes nothing earlier in the prompt, and caches hold.
 */
export function searchTools(searched: Searched): readonly [Tool, Tool] {
  const { servers } = searched;
  const more = servers.length > SERVERS_SHOWN ? ` and ${servers.length - SERVERS_SHOWN} more` : '';
  const shown = servers.slice(0, SERVERS_SHOWN).join(', ') + more;
  const find = defineTool({
    name: FIND_TOOLS,
    description: `Find tools of MCP servers (${shown}) by words. You get the name, the description and the input of those that fit best; call them with ${CALL_TOOL}, or by their name if you have it. Search before you say that something cannot be done.`,
    input: finding,
    side_by_side: true,
    idempotent: true,
    permission: { default: 'allow' },
    subject: ({ query }) => query,
    run: async ({ query }) => described(ranked(await searched.tools(), query)) + absence(searched),
  });
  const call = defineTool({
    name: CALL_TOOL,
    description: `Call a tool that ${FIND_TOOLS} found, by its name.`,
    input: calling,
    permission: { default: 'allow' },
    run: () => ({ status: 'error', output: 'the tool does not exist' }),
  });
  return [
    find as Tool,
    {
      ...(call as Tool),
      stands_for(input) {
        const { name, arguments: given = {} } = input as z.infer<typeof calling>;
        const tool = searched.find(name);
        if (tool === undefined) return { error: unknown(name) + absence(searched) };
        if (typeof given !== 'string') return { tool, input: given };
        const parsed = parseJson(given);
        return parsed.ok
          ? { tool, input: parsed.value }
          : { error: `field "arguments": must be an object, not text` };
      },
    },
  ];
}

function unknown(name: string): string {
  const meant = nearestName(name, [FIND_TOOLS, CALL_TOOL]);
  return `there is no tool ${JSON.stringify(name.slice(0, 100))} of an MCP server${meant === null ? '.' : `; did you mean ${meant}?`} Find it with ${FIND_TOOLS}, and give its whole name.`;
}

function absence({ absent }: Searched): string {
  const names = absent().join(', ');
  return names === '' ? '' : `\n\nwithout the tools of MCP servers that have not answered so far: ${names}`;
}

const FILLERS = new Set(
  'an and for from in into is it my of on or that the this to tool tools with'.split(' '),
);

function wordsOf(text: string): readonly string[] {
  return text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Matching tools by score, best first, then by name. */
function ranked(tools: readonly Tool[], query: string): readonly Tool[] {
  const words = [...new Set(wordsOf(query))];
  const telling = words.filter((word) => word.length > 1 && !FILLERS.has(word));
  const asked = telling.length === 0 ? words : telling;
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, asked, query.trim()) }));
  const least = Math.max(1, ...scored.map(({ score }) => score)) * RELEVANT;
  return scored
    .filter(({ score }) => score > 0 && score >= least)
    .sort((one, other) => other.score - one.score || (one.tool.spec.name < other.tool.spec.name ? -1 : 1))
    .map(({ tool }) => tool);
}

/** A word in the name counts more than one in the description, and a whole word more than a prefix. */
function scoreOf({ spec }: Tool, asked: readonly string[], query: string): number {
  if (spec.name === query) return 1_000;
  const [name, text] = [wordsOf(spec.name), new Set(wordsOf(spec.description))];
  const fields = wordsOf(Object.keys((spec.input.properties ?? {}) as object).join(' '));
  let score = 0;
  for (const word of asked) {
    if (name.includes(word)) score += 10;
    else if (
      word.length > 2 &&
      name.some((one) => one.startsWith(word) || (one.length > 3 && word.startsWith(one)))
    )
      score += 6;
    if (text.has(word)) score += 3;
    else if (word.length > 3 && [...text].some((one) => one.startsWith(word))) score += 1;
    if (fields.includes(word)) score += 1;
  }
  return score;
}

/** Describes tools only in the words of their servers, quoted where a line could be mistaken for one of ours. */
function described(found: readonly Tool[]): string {
  if (found.length === 0) return 'no tool fits: try other words, or fewer';
  const shown: string[] = [];
  let length = 0;
  for (const { spec } of found.slice(0, FOUND_MAX)) {
    const text = `${spec.name}\n  ${spec.description.replaceAll('\n', '\n  ')}\n  input: ${JSON.stringify(spec.input)}`;
    length += text.length;
    if (shown.length > 0 && length > TEXT_MAX) break;
    shown.push(quoteStamps(text));
  }
  const rest = found.slice(shown.length).map(({ spec }) => spec.name);
  const others = rest.slice(0, 20).join(', ') + (rest.length > 20 ? ` and ${rest.length - 20} more` : '');
  return [...shown, ...(rest.length === 0 ? [] : [`also: ${others}`])].join('\n\n');
}
