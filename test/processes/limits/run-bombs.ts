/** Runs the commands in the first argument (JSON: `{ mode, hosts?, limits?, commands }`) one after the other in the working folder, and prints the results. */
import { createBashTool } from '../../../src/tools/bash.ts';
import { testSandbox } from '../sandbox/test-sandbox.ts';

const asked = JSON.parse(process.argv[2] ?? '');
const settings = { mode: asked.mode, hosts: asked.hosts ?? [] };
const tool = createBashTool(asked.mode === 'off' ? null : testSandbox(settings), asked.limits);
const results = [];
for (const command of asked.commands)
  results.push(
    await tool.run(
      { command, timeout: 30 },
      {
        cwd: process.cwd(),
        spill_dir: `${process.cwd()}-output`,
        signal: new AbortController().signal,
        agent: { id: 'a1', name: 'tester', root_id: 'a1' },
        env_allow: [],
        onOutput: () => {},
      },
    ),
  );
process.stdout.write(JSON.stringify(results), () => process.exit());
