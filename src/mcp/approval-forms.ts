import { type InputRequests, inputRequired } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Ask, AskAnswer } from '../records/conversation/ask.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { FormField } from '../records/question/form-field.ts';
import { questionOf } from '../records/question/question.ts';
import { storable } from '../records/text/text.ts';
import { askParts } from '../render/ask-parts.ts';
import { clean } from '../render/clean.ts';
import type { ClientAgent } from './client-agent.ts';
import type { McpOptions } from './mcp-options.ts';
import { invalidParams } from './tool-answer.ts';

/** Maximum characters of an argument that a form shows; a longer one loses its middle. */
const SHOWN_MAX = 40_000;
/** Maximum answers in one request: each is looked up in the ledger. */
const ANSWERS_MAX = 256;

/** Open approvals and questions as forms that the client shows to its user, by the id of the approval, which stands for what is shown. */
export function approvalForms(asks: readonly Ask[]): InputRequests {
  return Object.fromEntries(asks.map((ask) => [ask.id, formOf(ask)]));
}

type FormTerms = Parameters<typeof inputRequired.elicit>[0];

const DECISION = {
  properties: {
    decision: { type: 'string', enum: ['allow once', 'deny'], title: 'Decision' },
    note: { type: 'string', title: 'What to tell the agent if denied' },
  },
  required: ['decision'],
};

function formOf(ask: Ask): InputRequests[string] {
  const parts = askParts(ask, SHOWN_MAX);
  const question = questionOf(ask);
  const message = [
    `${clean(ask.agent_name)} wants: ${clean(ask.tool)}`,
    ...parts.map(({ name, text }) => (name === '' ? text : `${name}: ${text}`)),
    ...(parts.some(({ left_out }) => left_out > 0) ? [`whole: coppice approvals show ${ask.id}`] : []),
    `in ${clean(ask.cwd)} · rule: ${clean(ask.rule)}`,
  ].join('\n');
  const form = {
    properties: Object.fromEntries(question?.fields.map((field) => [field.name, fieldSchema(field)]) ?? []),
    required: question?.fields.filter(({ required }) => required).map(({ name }) => name),
  };
  const requestedSchema = { type: 'object', ...(question === null ? DECISION : form) };
  return inputRequired.elicit({ message, requestedSchema } as FormTerms);
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
function answerIn(ask: Ask, { action, content }: Response): Omit<AskAnswer, 'at' | 'by'> | null {
  const is_question = questionOf(ask) !== null;
  const decision = action === 'decline' ? 'deny' : is_question ? 'allow once' : content?.decision;
  if (action === 'cancel' || (decision !== 'allow once' && decision !== 'deny')) return null;
  const note = typeof content?.note === 'string' && !is_question ? storable(content.note) : '';
  if (decision === 'deny') return { verdict: 'deny', scope: 'once', note };
  return { verdict: 'allow', scope: 'once', note: '', ...(is_question && { values: content ?? {} }) };
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
    throw invalidParams(`inputResponses: ${given.length} answers; the maximum is ${ANSWERS_MAX} at once`);
  for (const [id, said] of given) {
    const read = response.safeParse(said);
    if (!read.success) continue;
    const ask = (await store.findAsks(id)).find((one) => one.id === id);
    if (ask === undefined || ask.verdict !== null) continue;
    const agent = await store.agent(ask.agent_id);
    if (agent === null || !(await client.owns(agent))) continue;
    const answer = answerIn(ask, read.data);
    if (answer === null) continue;
    await runtime.answer(id, { ...answer, by: `the user of ${client.name}` }).catch((error: unknown) => {
      if (!(error instanceof CoppiceError)) throw error;
      // Otherwise another answer was committed first.
      if (error.code === 'E_INVALID_ARGUMENT') throw invalidParams(`inputResponses: ${id}: ${error.message}`);
      if (error.code !== 'E_ASK_ANSWERED') throw error;
    });
  }
}
