import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAnthropicServer } from '../../test/servers/anthropic-server.ts';
import { startOpenAiResponsesServer } from '../../test/servers/openai-responses-server.ts';
import { AGENT_PROGRAMS } from './agent-programs.ts';
import { environment, installed, MAIN, newPlace, processesWith, type Started, start } from './trial-place.ts';
import { VendorsBrain } from './vendors-brain.ts';

/** Names and models of the children that run on a model rather than on a program. */
const MODELS = { one: 'anthropic/claude-sonnet-4-5', two: 'openai/gpt-5' };
const PROGRAMS = AGENT_PROGRAMS.map(({ name }) => name);
const NAMES = [...PROGRAMS, ...Object.keys(MODELS)];

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly cost_usd: number | null;
}

interface Scene {
  readonly brain: VendorsBrain;
  readonly home: string;
  readonly coppice: (...args: string[]) => Started;
  readonly agents: () => Promise<readonly Listed[]>;
  readonly see: (what: string, passed: boolean, seen: string) => void;
}

/**
 * Tries trees with children on the programs of four vendors and on two models, under one budget. For each program, Coppice is killed while the program is
 * working, and resumed. Then the other children use up the budget while a program is working.
 */
export async function tryVendors(into: string): Promise<boolean> {
  let good = true;
  for (const name of PROGRAMS)
    good = (await onStage(into, `${name} killed`, (scene) => killed(name, scene))) && good;
  return (await onStage(into, 'budget', budgetPassed)) && good;
}

async function killed(name: string, { brain, home, coppice, agents, see }: Scene): Promise<void> {
  brain.silent = name;
  const limits = ['--limit', 'tokens=100000', '--limit', 'cost=5'];
  const first = coppice('run', '--model', MODELS.one, '--toolset', 'fanout', ...limits, 'TRIAL');
  const resting = async (): Promise<boolean> => {
    const known = await agents();
    const at_work = known.filter((one) => one.state === 'requesting').map((one) => one.name);
    return brain.asked.has(name) && known.length > NAMES.length && at_work.join() === name;
  };
  for (let tries = 0; tries < 60 && !(await resting()); tries += 1) await sleep(500);
  const before = (await agents()).map((one) => `${one.name} ${one.state}`);
  see('only it is at work', await resting(), before.join(', '));
  process.kill(first.pid, 'SIGKILL');
  await first.ended;
  await sleep(2_000);
  const left = processesWith(home).length;
  see('processes that the kill left', left === 0, String(left));
  brain.silent = null;
  const { code, stdout, stderr } = await coppice('resume').ended;
  const results = NAMES.filter((one) => new RegExp(`"result":"[^"]*did ${one}\\b`).test(stdout));
  const passed = code === 0 && results.length === NAMES.length;
  see('resumed, results of', passed, results.join(', '));
  if (!passed) console.log(`${stdout.slice(-1_500)}\n${stderr.slice(-1_500)}`);
  const again = [...brain.asked].filter(([, prompts]) => prompts > 1).map(([one]) => one);
  see('programs asked twice', again.join() === name, again.join(', '));
  const used = (await agents()).map(
    ({ name: who, tokens, cost_usd }) => `${who} ${tokens.input}+${tokens.output}, $${cost_usd}`,
  );
  const counted = (await agents()).every(({ tokens, cost_usd }) => tokens.input > 0 && (cost_usd ?? 0) > 0);
  see('tokens and dollars in the budget', counted, used.join('; '));
}

async function budgetPassed({ brain, home, coppice, agents, see }: Scene): Promise<void> {
  const [held = ''] = PROGRAMS;
  brain.silent = held;
  brain.waitsFor = held;
  const { stdout, stderr } = await coppice(
    ...['run', '--model', MODELS.one, '--toolset', 'fanout', '--limit', 'tokens=5000', 'TRIAL'],
  ).ended;
  const [why = 'nothing'] = /limit \W*tokens\W* of the tree reached[^.]*/.exec(stdout) ?? [];
  see('the root is told', why !== 'nothing', why);
  if (why === 'nothing') console.log(`${stdout.slice(-1_500)}\n${stderr.slice(-1_500)}`);
  const known = await agents();
  const it = known.find(({ name }) => name === held);
  see(`${held}, which was at work`, it?.state === 'failed', it?.state ?? 'missing');
  const tokens = known.reduce((sum, one) => sum + one.tokens.input + one.tokens.output, 0);
  see('tokens of 5000', tokens > 5_000 && tokens <= 5_000 + NAMES.length * 1_100, String(tokens));
  const left = processesWith(home).length;
  see('processes left', left === 0, String(left));
}

async function onStage(into: string, title: string, play: (scene: Scene) => Promise<void>): Promise<boolean> {
  const { home, work } = newPlace(into, 'vendors');
  const brain = new VendorsBrain(NAMES);
  const answer = brain.answer.bind(brain);
  const [anthropic, openai, ...servers] = await Promise.all([
    startAnthropicServer({ answer }),
    startOpenAiResponsesServer({ answer }),
    ...AGENT_PROGRAMS.map(({ startModel }) => startModel({ answer })),
  ]);
  const acp = AGENT_PROGRAMS.map(({ name, spec, bin, entry }, index) => {
    const { url } = servers[index] as { url: string };
    const command = join(installed(into, `acp-${name}`, spec), 'node_modules', '.bin', bin);
    // Long, because all programs start at once, some for the first time in their home.
    const common = { command, hosts: [new URL(url).host], startTimeoutSeconds: 120 };
    return [name, { ...common, ...entry({ home, work, url }) }] as const;
  });
  const profiles = [
    ...AGENT_PROGRAMS.map(({ name, mode }) => [name, ['acp:', name, mode && `/${mode}`].join('')]),
    ...Object.entries(MODELS),
  ].map(([name, model]) => [name, { description: 'For a trial', model }]);
  const folder = join(home, '.config', 'coppice');
  mkdirSync(folder, { recursive: true });
  const configuration = { acp: Object.fromEntries(acp), agents: Object.fromEntries(profiles) };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configuration));
  const env = environment(home, {
    ...{ ANTHROPIC_API_KEY: 'any', ANTHROPIC_BASE_URL: anthropic.url },
    ...{ OPENAI_API_KEY: 'any', OPENAI_BASE_URL: `${openai.url}/v1` },
  });
  const coppice = (...args: string[]): Started =>
    start(process.execPath, [MAIN, ...args], { cwd: work, env });
  let good = true;
  try {
    await play({
      ...{ brain, home, coppice },
      agents: async () => {
        const { stdout } = await coppice('ps', '--all', '--json').ended;
        return stdout === '' ? [] : (JSON.parse(stdout) as { agents: Listed[] }).agents;
      },
      see(what, passed, seen) {
        good &&= passed;
        console.log(`${passed ? 'ok  ' : 'FAIL'} vendors, ${title}: ${what}: ${seen}`);
      },
    });
  } finally {
    for (const server of [anthropic, openai, ...servers]) await server.close();
  }
  return good;
}
