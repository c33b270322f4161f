import { appendFileSync } from 'node:fs';
import {
  createScriptedModel,
  createToolRegistry,
  openCoppice,
  registerSubagentTools,
} from '../../src/coppice.ts';

/**
 * A program that may be killed at any moment: `node delegate-worker.ts DATABASE EFFECTS [ROOT]`. It starts a tree of `WIDTH` sub-agents that each use a
 * tool, spawn one child, and answer; or resumes the tree of ROOT. Prints the root's id, then its reply.
 */
export const WIDTH = 8;

async function main(database: string, effects: string, root_id: string | undefined): Promise<void> {
  const registry = createToolRegistry();
  registry.register(
    { name: 'note', description: 'Notes it down.', parameters: { text: { type: 'string', required: true } } },
    async ({ text }) => {
      appendFileSync(effects, `${String(text)}\n`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      return `noted ${String(text)}`;
    },
  );
  registerSubagentTools(registry);
  const note = { name: 'note', input: { text: '{{agent.name}}' } };
  const spawn = (description: string) => ({
    name: 'subagent_spawn',
    input: { task: `do ${description}`, description },
  });
  const model = createScriptedModel(
    {
      rules: [
        { when: { root: true, step: 0 }, calls: [{ ...spawn('s{{index}}'), repeat: WIDTH }] },
        {
          when: { root: true },
          say: Array.from({ length: WIDTH }, (_, index) => `{{results.subagent_spawn.${index}}}`).join(' '),
        },
        { when: { agent: 'below-*', step: 0 }, delay_ms: 20, calls: [note] },
        { when: { agent: 'below-*' }, delay_ms: 20, say: '{{agent.name}}' },
        { when: { step: 0 }, delay_ms: 20, calls: [note] },
        { when: { step: 1 }, delay_ms: 20, calls: [spawn('below-{{agent.name}}')] },
        { delay_ms: 20, say: '{{agent.name}}>{{results.subagent_spawn.0}}' },
      ],
    },
    'worker',
  );
  const coppice = await openCoppice({
    database,
    model: 'm',
    models: { m: model },
    builtInTools: [],
    registry,
  });
  const agent =
    root_id === undefined ? await coppice.start({ prompt: 'begin' }) : await coppice.resume(root_id);
  process.stdout.write(`root ${agent.id}\n`);
  const { reply, failure } = await agent.result();
  // The last line of a sub-agent's result lists its actions, which depend on the kills.
  const said = reply?.replaceAll(/\n+[^\n]*\[Did: [^\n]*\](?=\s|$)/g, '');
  process.stdout.write(`reply ${failure === null ? said : `failed: ${failure.error}`}\n`);
  await coppice.close();
}

const [, file, database, effects, root_id] = process.argv;
if (file === import.meta.filename && database !== undefined && effects !== undefined)
  void main(database, effects, root_id);
