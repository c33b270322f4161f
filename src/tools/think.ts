import * as z from 'zod';
import { cutText } from '../records/text/cut-text.ts';
import { BUILT_IN_PERMISSIONS } from './built-in-permissions.ts';
import { defineOwnTool } from './define-tool.ts';

/** Lets the model write down a thought; changes nothing. */
export const think = defineOwnTool({
  name: 'think',
  permission: BUILT_IN_PERMISSIONS.think,
  description:
    'Write down a thought before a difficult step: what is known, what is missing, what comes next. Changes nothing.',
  input: z.strictObject({ thought: z.string().describe('The thought.') }),
  side_by_side: true,
  idempotent: true,
  subject: (input) => cutText(input.thought.split('\n', 1)[0]!, 200),
  run: () => 'ok',
});
