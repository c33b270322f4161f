import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
} from '@modelcontextprotocol/server';
import { markdownOf } from '../documents/message-markdown.ts';
import { messagesAfter } from '../documents/messages-after.ts';
import { endOfText } from '../records/text/cut-text.ts';
import { statusWord } from '../render/agent-status.ts';
import { clean } from '../render/clean.ts';
import type { ClientAgent } from './client-agent.ts';
import type { McpOptions } from './mcp-options.ts';

/** Conversations of agents as resources: `coppice://agents/UUID/transcript`. */

const ADDRESS = /^coppice:\/\/agents\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/transcript$/;
export const TRANSCRIPTS = 'coppice://agents/{agent_id}/transcript';
const TYPE = 'text/markdown';
/** Maximum characters of a transcript; a longer one loses its beginning. */
const CHARACTERS_MAX = 1_000_000;
const LISTED_TREES = 50;
/** Maximum characters of an address that an error repeats. */
const SHOWN_MAX = 200;

export async function listTranscripts(client: ClientAgent, { store }: McpOptions): Promise<Resource[]> {
  const listed: Resource[] = [];
  for (const { id } of (await client.roots()).slice(0, LISTED_TREES))
    for (const agent of (await store.agents({ root_id: id })).toReversed())
      listed.push({
        uri: `coppice://agents/${agent.id}/transcript`,
        name: clean(agent.name),
        description: `Conversation of ${clean(agent.name)}, ${statusWord(agent)}`,
        mimeType: TYPE,
      });
  return listed;
}

/** Throws an error of the protocol for an address that is not one of this client's agents. */
export async function readTranscript(
  client: ClientAgent,
  uri: string,
  { store }: McpOptions,
): Promise<ReadResourceResult> {
  const [, id = ''] = ADDRESS.exec(uri) ?? [];
  const agent = id === '' ? null : await store.agent(id);
  if (agent === null || !(await client.owns(agent)))
    throw new ProtocolError(
      ProtocolErrorCode.ResourceNotFound,
      `there is no such resource: ${clean(uri.slice(0, SHOWN_MAX))}`,
    );
  const pieces = [`# ${clean(agent.name)} (${statusWord(agent)})\n`];
  for await (const message of messagesAfter(store, id, 0))
    pieces.push(markdownOf(message as Parameters<typeof markdownOf>[0]));
  const whole = pieces.join('');
  const text =
    whole.length <= CHARACTERS_MAX
      ? whole
      : `(the beginning is left out)\n${endOfText(whole, CHARACTERS_MAX)}`;
  return { contents: [{ uri, mimeType: TYPE, text }] };
}
