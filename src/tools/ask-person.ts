import * as z from 'zod';
import { formFields } from '../records/question/form-field.ts';
import type { Tool } from '../records/tool.ts';
import { defineOwnTool } from './define-tool.ts';

const NOBODY = 'nobody can be asked in this run (on the command line, --ask lets questions wait)';

const input = z.strictObject({
  question: z.string().min(1),
  choices: z.array(z.string().min(1)).min(1).optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
});

/** Asks a person, wherever people answer approvals; the result is the answer as JSON. Only the `ask` of a workflow calls it. */
export const askPerson: Tool<z.infer<typeof input>> = defineOwnTool<z.infer<typeof input>>({
  name: 'ask_person',
  permission: { default: 'allow', only_reads: true },
  description: 'Ask a person.',
  input,
  idempotent: true,
  subject: ({ question }) => question,
  async run({ question, choices, schema }, { question: askOne, signal, agent }) {
    const one = choices === undefined ? { type: 'string' } : { type: 'string', enum: choices };
    const form = schema ?? { type: 'object', properties: { answer: one }, required: ['answer'] };
    const fields = formFields(form);
    if (fields === null)
      throw new Error('the schema of the question is not a flat form that people can fill in');
    if (askOne === undefined) throw new Error(NOBODY);
    const answer = await askOne(
      { asker: `the workflow agent ${agent.name}`, message: question, fields, call: '' },
      signal,
    );
    if (answer.action !== 'accept')
      throw new Error(answer.action === 'nobody' ? NOBODY : 'the person gave no answer');
    return JSON.stringify(schema === undefined ? answer.values.answer : answer.values);
  },
});
