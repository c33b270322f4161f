import type { Model, ModelRequest } from '../../../src/models/model.ts';
import { createScriptedModel } from '../../../src/models/scripted/scripted-model.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';

/** In tokens of four characters each. */
export const WINDOW = 8_000;
export const TASK = 'Count to the end. The password is pineapple.';

/** A root that forks a child, then calls `work` repeatedly until a result says `last`, all within a small window. */
export function wornOutModel(seen: ModelRequest[], window: number = WINDOW): Model {
  const model = createScriptedModel(
    {
      context_window: window,
      rules: [
        { when: { user: 'replaced by your summary' }, say: 'So far I have counted.' },
        { when: { root: false, step: 0 }, say: 'I am here.' },
        {
          when: { root: true, user: '^Count' },
          once: true,
          calls: [{ name: 'fork', input: { name: 'kid', prompt: 'stay' } }],
        },
        { when: { root: true, result: '^last' }, say: 'All counted.' },
        { when: { root: true, user: '^A message arrived' }, say: 'All counted.' },
        { when: { root: true }, say: 'I go on.', calls: [{ name: 'work', input: {} }] },
      ],
    },
    'worn',
  );
  return {
    ...model,
    stream: (request, onDelta) => {
      seen.push(request);
      return model.stream(request, onDelta);
    },
  };
}

export function workTool(times: number): Tool {
  let done = 0;
  return defineTool({
    name: 'work',
    description: 'Works.',
    input: { type: 'object', properties: {} },
    permission: { default: 'allow' },
    run: () => {
      done += 1;
      return `${done === times ? 'last' : 'more'} ${done}: ${'lorem ipsum '.repeat(60)}`;
    },
  }) as Tool;
}

/** Number of tokens of a request, counted as the scripted model counts them. */
export function tokensOf({ system, messages }: ModelRequest): number {
  return Math.ceil(messages.reduce((sum, one) => sum + JSON.stringify(one).length, system.length) / 4);
}
