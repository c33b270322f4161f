import * as z from 'zod';
import { cutText } from '../records/text/cut-text.ts';
import { BUILT_IN_PERMISSIONS } from './built-in-permissions.ts';
import { defineOwnTool } from './define-tool.ts';

const tool = defineOwnTool({
  name: 'think',
  permission: BUILT_IN_PERMISSIONS.think,
  description: 'Write down a thought before a difficult step. Changes nothing.',
  input: z.strictObject({ thought: z.string() }),
  side_by_side: true,
  idempotent: true,
  subject: (input) => cutText(input.thought.split('\n', 1)[0]!, 200),
  run: () => 'ok',
});

/** Lets a model write down a thought; changes nothing. One that reasons has its own place for thoughts. */
export const think: typeof tool = { ...tool, audience: ({ thinking }) => thinking === 'off' };
