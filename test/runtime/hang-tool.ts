import { z } from 'zod';
import type { Tool } from '../../src/records/tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';

/** A tool that hangs until it is stopped. */
export function hangTool(begun: () => void = () => undefined): Tool {
  return defineTool({
    name: 'hang',
    description: 'Hangs until it is stopped.',
    input: z.strictObject({}),
    run: (_input, { signal }) => {
      begun();
      return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('stopped')));
    },
  }) as Tool;
}
