import type { ElicitResult } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { formFields } from '../../../records/question/form-field.ts';
import type { Question, QuestionAnswer } from '../../../records/question/question.ts';
import type { ToolContext } from '../../../records/tool.ts';
import { clean } from '../../../render/clean.ts';
import { McpError } from '../mcp-error.ts';
import type { CallTimeout } from './call-timeout.ts';

const MESSAGE_MAX = 4_000;
const URL_MAX = 2_000;
const CALL_MAX = 20_000;
const QUOTED_MAX = 200;

export type AskPerson = NonNullable<ToolContext['question']>;

/** A call during which its server may ask a person. */
export interface AskingCall {
  /** The calling agent and the tool: `writer: tracker__create`. */
  readonly about: string;
  readonly input: string;
  readonly patience: CallTimeout;
  /** Undefined if there is nobody to ask. */
  readonly ask: AskPerson | undefined;
}

const asked = z.object({
  mode: z.enum(['form', 'url']).optional(),
  message: z.string(),
  requestedSchema: z.unknown().optional(),
  url: z.string().optional(),
});

/**
 * Puts a server's question to the person of its call. `others`: other calls in progress at the same server, which the question may be about instead. Rejects
 * with an McpError if the question cannot be shown to anybody. An answer is never reused.
 */
export async function elicit(
  server: string,
  params: unknown,
  call: AskingCall,
  others: readonly string[],
  signal: AbortSignal,
): Promise<ElicitResult> {
  const question = questionFrom(server, params, call, others);
  if (typeof question === 'string') throw new McpError(`asked a question that cannot be shown: ${question}`);
  const { ask, patience } = call;
  if (ask === undefined) return { action: 'decline' };
  const either = AbortSignal.any([signal, patience.signal]);
  const answer = await patience.whileAsking(() => ask(question, either));
  if (answer.action === 'accept')
    return { action: 'accept', content: answer.values as NonNullable<ElicitResult['content']> };
  return { action: answer.action === 'cancel' ? 'cancel' : 'decline' };
}

/** Returns a text that says why, if the question cannot be asked. */
function questionFrom(
  server: string,
  params: unknown,
  { about, input }: AskingCall,
  others: readonly string[],
): Question | string {
  const parsed = asked.safeParse(params);
  if (!parsed.success) return 'it is not a valid elicitation request';
  const { mode, message, requestedSchema, url } = parsed.data;
  const unsure =
    others.length === 0 ? '' : `\n(It may be about another call under way: ${others.join(', ')})`;
  const cut = message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : message;
  const common = {
    asker: `the MCP server ${server}`,
    message: `${cut.toWellFormed()}${unsure}`,
    call: `${about} ${input.slice(0, CALL_MAX)}`.toWellFormed(),
  };
  if (mode === 'url') {
    const address = url === undefined || url.length > URL_MAX ? null : URL.parse(url);
    if (address === null || !/^https?:$/.test(address.protocol))
      return 'its address is not an http or https URL, or is too long';
    return { ...common, fields: [], url: address.href };
  }
  const fields = formFields(requestedSchema);
  return fields === null ? 'its form is too large, or not flat' : { ...common, fields };
}

/** Tells the model about a question that was not answered; null if it was answered. */
export function notAnswered(question: Question, answer: QuestionAnswer): string | null {
  const said = clean(question.message);
  const what = `${question.asker} asked "${said.length > QUOTED_MAX ? `${said.slice(0, QUOTED_MAX)}…` : said}"`;
  switch (answer.action) {
    case 'accept':
      return null;
    case 'cancel':
      return `${what}; the question was dismissed`;
    case 'nobody':
      return `${what}; nobody can be asked in this run, so it was declined`;
    case 'decline':
      return `${what}; ${answer.by} declined it. Do not try to get around it.${answer.note === '' ? '' : ` They say: ${answer.note}`}`;
  }
}
