import { type Agent, isActive } from '../../records/agent/agent.ts';
import { isPerson } from '../../records/conversation/facts/wait-row.ts';
import type { Image, PlacedMessage } from '../../records/conversation/message.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { endOfText } from '../../records/text/cut-text.ts';
import { statusWord } from '../../render/agent-status.ts';
import type { StreamGround } from './streams.ts';
import { AnswerWriter, type UIAgent, type UIMessageChunk } from './ui-chunks.ts';

/** A message as `useChat` of the AI SDK takes it. */
export interface UIMessage {
  id: string;
  role: 'user' | 'assistant';
  parts: UIMessagePart[];
}

/** A part of a message of the AI SDK: `text`, `reasoning`, `file`, `step-start`, `dynamic-tool`, `data-agent`. */
export type UIMessagePart = { type: string } & Record<string, unknown>;

/** What begins a turn. */
export interface Prompt extends Pick<PlacedMessage, 'seq' | 'at'> {
  readonly id: string;
  readonly text: string;
  readonly images?: readonly Image[] | undefined;
}

const WORDS_MAX = 300;

export function promptIn({ kind, content, agent_id, seq, at }: PlacedMessage): Prompt | null {
  if (kind !== 'user' && kind !== 'result') return null;
  const { facts, images } = content;
  const letter = facts?.letters?.find(({ from_id }) => from_id === null);
  const place = { id: letter?.id ?? `${agent_id}:${seq}`, seq, at, images };
  if (kind === 'user')
    return ['human', 'task', 'identity'].includes(content.origin) ? { ...place, text: content.text } : null;
  // A letter that ended a wait.
  return letter ? { ...place, text: content.facts?.waited?.rows.find(isPerson)?.message ?? '' } : null;
}

export function agentAsUI(agent: Agent, { live }: Pick<StreamGround, 'live'>): UIAgent {
  const { id, parent_id, name, doing, reply } = agent;
  const last_words = endOfText(live.textAfter(agent.last_seq, id) || (reply ?? ''), WORDS_MAX);
  return { id, parent_id, name, state: statusWord(agent), ...outcomeOf(agent), doing, last_words };
}

/** The conversation of a chat, without the answer under way: its stream brings that. */
export async function uiMessagesOf(ground: StreamGround, root_id: string): Promise<UIMessage[]> {
  const agents = (await ground.store.agents({ root_id })).reverse();
  const turns: { prompt: Prompt; parts: UIMessagePart[] }[] = [];
  const writer = new AnswerWriter();
  for (const message of await ground.store.history(root_id)) {
    for (const chunk of writer.chunksOf(message)) addTo(turns.at(-1)?.parts ?? [], chunk);
    const prompt = promptIn(message);
    if (prompt !== null) turns.push({ prompt, parts: [] });
  }
  // As the streams of the turns told them: with each turn in which an agent was made, or got or sent a letter; the root with all.
  const letters = await ground.store.treeMail(root_id, undefined, Number.MAX_SAFE_INTEGER);
  const turnAt = (at: number) => turns.findLast(({ prompt }) => prompt.at <= at);
  const shown = new Map<string | null, Set<(typeof turns)[number] | undefined>>(
    agents.map(({ id, created_at }) => [id, new Set(id === root_id ? turns : [turnAt(created_at)])]),
  );
  for (const { from_id, to_id, sent_at } of letters)
    for (const id of [from_id, to_id]) if (id !== root_id) shown.get(id)?.add(turnAt(sent_at));
  for (const agent of agents) {
    const part = { type: 'data-agent', id: agent.id, data: agentAsUI(agent, ground) };
    for (const turn of shown.get(agent.id) ?? []) turn?.parts.push(part);
  }
  if (agents.some(isActive)) turns.at(-1)?.parts.splice(0);
  return turns.flatMap(({ prompt: { id, text, images = [] }, parts }): UIMessage[] => {
    const said: UIMessage = { id, role: 'user', parts: [{ type: 'text', text, state: 'done' }] };
    for (const { media_type: mediaType, base64 } of images)
      said.parts.push({ type: 'file', mediaType, url: `data:${mediaType};base64,${base64}` });
    return parts.length === 0 ? [said] : [said, { id: answerId(id), role: 'assistant', parts }];
  });
}

export function answerId(prompt_id: string): string {
  return `${prompt_id}-answer`;
}

/** Adds a chunk of an answer that is in the ledger. */
function addTo(parts: UIMessagePart[], chunk: UIMessageChunk): void {
  const { type, dynamic: _, ...content } = { dynamic: true, ...chunk };
  if (type === 'start-step') parts.push({ type: 'step-start' });
  else if (type === 'text-start' || type === 'reasoning-start')
    parts.push({ type: type.slice(0, -'-start'.length), text: '', state: 'done' });
  else if ('delta' in content)
    Object.assign(parts.at(-1) ?? {}, { text: `${parts.at(-1)?.text}${content.delta}` });
  else if (type === 'tool-input-available')
    parts.push({ type: 'dynamic-tool', state: 'input-available', ...content });
  else if ('toolCallId' in content) {
    const call = parts.findLast(({ toolCallId }) => toolCallId === content.toolCallId);
    Object.assign(call ?? {}, content, { state: type.slice('tool-'.length) });
  }
}
