import {
  type InputRequests,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Ask, AskAnswer } from '../records/conversation/ask.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { FormField } from '../records/question/form-field.ts';
import { questionOf } from '../records/question/question.ts';
import { storable } from '../records/text/text.ts';
import { clean, cleanLines } from '../render/clean.ts';
import type { ClientAgent } from './client-agent.ts';
import { askLine } from './listed-agents.ts';
import type { McpOptions } from './mcp-options.ts';

/** Maximum characters of a call's input or diff that a form shows. */
const SHOWN_MAX = 4_000;
/** Maximum answers in one request: each is looked up in the ledger. */
const ANSWERS_MAX = 256;

/** Open approvals and questions as forms that the client shows to its user, by the id of the approval, which is never reused. */
export function approvalForms(asks: readonly Ask[]): InputRequests {
  return Object.fromEntries(asks.map((ask) => [ask.id, questionForm(ask) ?? approvalForm(ask)]));
}

type Form = InputRequests[string];
type FormTerms = Parameters<typeof inputRequired.elicit>[0];

function approvalForm(ask: Ask): Form {
  const { agent_name, cwd, rule, difference, tool, input } = ask;
  const shown = difference ?? (tool === 'bash' ? '' : input);
  return inputRequired.elicit({
    message: [
      `${clean(agent_name)} wants: ${clean(askLine(ask))}`,
      `in ${clean(cwd)} · rule: ${clean(rule)}`,
      ...(shown === '' ? [] : [cleanLines(shown.slice(0, SHOWN_MAX))]),
    ].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', enum: ['allow once', 'deny'], title: 'Decision' },
        note: { type: 'string', title: 'What to tell the agent if denied' },
      },
      required: ['decision'],
    },
  });
}

/** The form of a question that a tool asks; null for a call that waits for approval. */
function questionForm(ask: Ask): Form | null {
  const question = questionOf(ask);
  if (question === null) return null;
  const { asker, message, fields, url, call } = question;
  return inputRequired.elicit({
    message: [
      `${clean(ask.agent_name)}: ${clean(asker)} asks: ${cleanLines(message.slice(0, SHOWN_MAX))}`,
      ...(url === undefined ? [] : [`visit ${clean(url)}, and accept when you agree`]),
      `during ${clean(call)}`,
    ].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
      required: fields.filter(({ required }) => required).map(({ name }) => name),
    },
  } as FormTerms);
}

/** The field as the JSON Schema from which it was read (src/records/question/form-field.ts). */
function fieldSchema({ kind, choices = [], min, max, ...field }: FormField): object {
  const { title, description, format } = field;
  const shown = { ...(title && { title }), ...(description && { description }) };
  const otherwise = field.default === undefined ? {} : { default: field.default };
  const bounds = (end: string) => ({
    ...(min !== undefined && { [`min${end}`]: min }),
    ...(max !== undefined && { [`max${end}`]: max }),
  });
  const values = { type: 'string', enum: choices.map(({ value }) => value) };
  const has_titles = choices.some((one) => one.title !== undefined);
  const titled = choices.map(({ value, title: name = value }) => ({ const: value, title: name }));
  const schema = {
    text: { type: 'string', ...bounds('Length'), ...(format && { format }) },
    number: { type: 'number', ...bounds('imum') },
    integer: { type: 'integer', ...bounds('imum') },
    boolean: { type: 'boolean' },
    choice: has_titles ? { type: 'string', oneOf: titled } : values,
    choices: { type: 'array', items: has_titles ? { anyOf: titled } : values, ...bounds('Items') },
  }[kind];
  return { ...schema, ...shown, ...otherwise };
}

const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
const response = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), value).nullish(),
});
type Response = z.infer<typeof response>;

/** Null: the form was closed, or does not say what to do. */
function approvalAnswer({ action, content }: Response): Omit<AskAnswer, 'at' | 'by'> | null {
  const decision = action === 'decline' ? 'deny' : content?.decision;
  if (action === 'cancel' || (decision !== 'allow once' && decision !== 'deny')) return null;
  const note = typeof content?.note === 'string' ? storable(content.note) : '';
  return decision === 'deny'
    ? { verdict: 'deny', scope: 'once', note }
    : { verdict: 'allow', scope: 'once', note: '' };
}

/** Null: the form was closed. */
function questionAnswer({ action, content }: Response): Omit<AskAnswer, 'at' | 'by'> | null {
  if (action === 'cancel') return null;
  if (action === 'decline') return { verdict: 'deny', scope: 'once', note: '' };
  return { verdict: 'allow', scope: 'once', note: '', values: content ?? {} };
}

/**
 * Records the answers that people gave. A form that was closed leaves its approval open; answers to approvals of other clients are ignored. Rejects with a
 * ProtocolError for values that do not fit the form of a question.
 */
export async function answerForms(
  client: ClientAgent,
  responses: Readonly<Record<string, unknown>>,
  { store, runtime }: Pick<McpOptions, 'store' | 'runtime'>,
): Promise<void> {
  const given = Object.entries(responses);
  if (given.length > ANSWERS_MAX)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `inputResponses: ${given.length} answers; the maximum is ${ANSWERS_MAX} at once`,
    );
  for (const [id, said] of given) {
    const read = response.safeParse(said);
    if (!read.success) continue;
    const ask = (await store.findAsks(id)).find((one) => one.id === id);
    if (ask === undefined || ask.verdict !== null) continue;
    const agent = await store.agent(ask.agent_id);
    if (agent === null || !(await client.owns(agent))) continue;
    const answer = questionOf(ask) === null ? approvalAnswer(read.data) : questionAnswer(read.data);
    if (answer === null) continue;
    await runtime.answer(id, { ...answer, by: `the user of ${client.name}` }).catch((error: unknown) => {
      if (!(error instanceof CoppiceError)) throw error;
      // Otherwise another answer was committed first.
      if (error.code === 'E_INVALID_ARGUMENT')
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `inputResponses: ${id}: ${error.message}`);
      if (error.code !== 'E_ASK_ANSWERED') throw error;
    });
  }
}
