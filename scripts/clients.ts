import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLIENT_PROGRAMS, type ClientProgram } from './clients/client-programs.ts';
import { tryInspector } from './clients/inspector-trial.ts';
import { tryServers } from './clients/servers-trial.ts';
import { trialBrain } from './clients/trial-brain.ts';
import {
  agentsIn,
  environment,
  installed,
  killTree,
  newPlace,
  serverCommand,
  start,
} from './clients/trial-place.ts';
import { tryVendors } from './clients/vendors-trial.ts';

/**
 * Tries real MCP clients from npm with `coppice mcp` (docs/mcp-clients.md), each with its own home folder and a local scripted model: no keys are needed,
 * and no network except for npm. `npm run clients [claude|codex|opencode|gemini|inspector …]`; `COPPICE_CLIENTS=FOLDER` keeps the installed packages there.
 * `servers` and `vendors` try the other direction: MCP servers (docs/mcp.md) and agent programs (docs/acp.md) that Coppice starts.
 */

const into = process.env.COPPICE_CLIENTS ?? join(tmpdir(), 'coppice-clients');
const DETAIL = 600;

async function tryProgram(program: ClientProgram): Promise<boolean> {
  const { name, version, bin } = program;
  const folder = installed(into, name, `${program.package}@${version}`);
  const model = await program.startModel({ answer: trialBrain });
  const { home, work } = newPlace(into, name);
  const { args, env } = program.prepare({ home, work, model_url: model.url, server: serverCommand(home) });
  const run = (order: string) =>
    start(join(folder, 'node_modules', '.bin', bin), args(`TRIAL ${order}`), {
      cwd: work,
      env: environment(home, env),
    });
  let good = true;
  const see = async (what: string, order: string, expected: string): Promise<void> => {
    const began = performance.now();
    const { code, stdout, stderr } = await run(order).ended;
    const [found] = /COLLECTED[\w ,]*/.exec(stdout) ?? [];
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const passed = found === `COLLECTED ${expected}`;
    good &&= passed;
    console.log(
      `${passed ? 'ok  ' : 'FAIL'} ${name} ${version}: ${what}: ${found ?? 'nothing'} (${seconds} s)`,
    );
    if (passed) return;
    console.log(`     exit code ${code}\n${stdout.slice(-DETAIL)}\n${stderr.slice(-DETAIL)}`);
    for (const { refused } of model.exchanges) if (refused !== null) console.log(`     refused: ${refused}`);
  };
  try {
    await see('three tasks in one call', 'spawn', 'did a, did b, did c');
    await see('three forks, then wait', 'fork', 'did a, did b, did c');
    const held = run('hold');
    const slow = async () =>
      (await agentsIn(home, work)).filter(({ name: agent }) => agent.startsWith('slow'));
    for (let tries = 0; tries < 60 && (await slow()).length < 3; tries += 1) await sleep(200);
    const before = (await slow()).map(({ state }) => state);
    const killed = killTree(held.pid);
    await held.ended;
    console.log(
      `     ${name}: SIGKILL of ${killed} processes while three agents were ${[...new Set(before)].join(', ')}`,
    );
    good &&= before.length === 3;
    await see('started again, collects', 'collect', 'slowly did a, slowly did b, slowly did c');
  } finally {
    await model.close();
  }
  return good;
}

const wanted = process.argv.slice(2);
mkdirSync(into, { recursive: true });
let failures = 0;
const trials: readonly [string, () => Promise<boolean>][] = [
  ['inspector', () => tryInspector(into)],
  ['servers', () => tryServers(into)],
  ['vendors', () => tryVendors(into)],
  ...CLIENT_PROGRAMS.map((program): [string, () => Promise<boolean>] => [
    program.name,
    () => tryProgram(program),
  ]),
];
for (const [name, trial] of trials) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  try {
    if (!(await trial())) failures += 1;
  } catch (error) {
    failures += 1;
    console.log(`FAIL ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
process.exitCode = failures === 0 ? 0 : 1;
