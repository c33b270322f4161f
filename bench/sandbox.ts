import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Sandbox } from '../src/processes/sandbox/sandbox.ts';
import type { Tool, ToolContext } from '../src/records/tool.ts';
import { createBashTool } from '../src/tools/bash.ts';
import { testSandbox } from '../test/processes/sandbox/test-sandbox.ts';
import { machineLine } from './machine-line.ts';
import { percentile } from './percentile.ts';

/** `npm run bench:sandbox [-- --calls N]`: measures what each kind of sandbox adds to one call of `bash`, one call at a time. Needs bubblewrap. */
const { calls } = parseArgs({ options: { calls: { type: 'string', default: '60' } } }).values;
const folder = mkdtempSync('/var/tmp/coppice-bench-');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const cwd = join(folder, 'work');
mkdirSync(cwd);

const KINDS: Readonly<Record<string, Sandbox | null>> = {
  none: null,
  workspace: testSandbox(),
  strict: testSandbox({ mode: 'strict' }),
  'workspace, a host allowed': testSandbox({ hosts: ['example.com'] }),
};
const context: ToolContext = {
  cwd,
  spill_dir: join(folder, 'output'),
  signal: new AbortController().signal,
  agent: { id: 'bench', name: 'bench', root_id: 'bench' },
  env_allow: [],
  onOutput: () => {},
};
const tools = Object.entries(KINDS).map(([kind, sandbox]) => ({
  kind,
  tool: createBashTool(sandbox, sandbox === null ? null : {}) as Tool,
  times: [] as number[],
}));

for (let call = -3; call < Number(calls); call += 1)
  for (const { kind, tool, times } of tools) {
    const before = performance.now();
    const { status, output } = await tool.run({ command: 'true' }, context);
    if (status !== 'ok') throw new Error(`${kind}: ${output}`);
    if (call >= 0) times.push(performance.now() - before);
  }

console.log(`${machineLine()}, ${calls} calls of \`true\` each\n`);
const bare = percentile(tools[0]?.times ?? [], 0.5);
for (const { kind, times } of tools) {
  const [median, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
  const more = (median - bare).toFixed(1);
  console.log(
    `${kind.padEnd(28)} median ${median.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, ${more} ms more than without`,
  );
}
