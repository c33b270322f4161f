/**
 * Proves that the output of commands with `--json` matches docs/json.md, key by key, for every document and every kind of message, and that the page has
 * every document in the sources. The page is generated from the shapes used here.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, it } from 'node:test';
import { z } from 'zod';
import { agent } from '../../src/documents/shapes/agent-parts.ts';
import { JSON_DOCUMENTS } from '../../src/documents/shapes/all-documents.ts';
import { approval, grantedRule, job, run } from '../../src/documents/shapes/document-parts.ts';
import { messages } from '../../src/documents/shapes/message-lines.ts';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { runGit } from '../runtime/worktree/git-repository.ts';
import { until } from '../until.ts';

const root = join(import.meta.dirname, '..', '..');
const LIKE: Readonly<Record<string, z.ZodObject>> = { agent, approval, granted_rule: grantedRule, job, run };
/** Documented on other pages: files, and what is sent. */
const ELSEWHERE = ['coppice/archive/v1', 'coppice/case/v1', 'coppice/delivery/v1'];

const SHAPES = new Map(
  JSON_DOCUMENTS.map(({ name, shape, like }) => [
    name,
    z.strictObject({
      schema: z.literal(name),
      ...(like === undefined ? {} : LIKE[like]?.shape),
      ...shape.shape,
    }),
  ]),
);
const line = z.discriminatedUnion('kind', [
  ...[messages.user, messages.assistant, messages.result, messages.event, messages.capture],
] as never);

const RULES = [
  {
    when: { root: true, user: '^go', step: 0 },
    say: 'I fork.',
    reasoning: 'Two calls.',
    calls: [
      { name: 'fork', input: { name: 'kid', prompt: 'say hello' } },
      { name: 'bash', input: { command: 'true' } },
    ],
  },
  {
    when: { root: true, user: '^spawn', step: 0 },
    calls: [{ name: 'sessions_spawn', input: { task: 'slow', label: 'bg' } }],
  },
  { when: { root: true, user: '^ask', step: 0 }, calls: [{ name: 'bash', input: { command: 'true' } }] },
  {
    when: { root: true, user: '^branch', step: 0 },
    calls: [{ name: 'fork', input: { name: 'branched', prompt: 'hello', worktree: true } }],
  },
  { when: { root: true, user: '^wait' }, say: 'late', delay_ms: 600_000 },
  { when: { user: '^slow' }, say: 'late', delay_ms: 600_000 },
  { when: { root: true, user: '^(?:branch|go|spawn|ask|tick|A message arrived)' }, say: 'done' },
  { when: { root: false }, say: 'hello' },
];

let home: Home;
const seen = new Set<string>();
const MODEL = ['--model', 'scripted:rules.json'];

/** Keys of printed documents that this test reads. */
interface Printed {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string };
  readonly approvals: readonly { readonly id: string }[];
  readonly runs: readonly { readonly id: string }[];
  readonly workers: readonly { readonly id: string }[];
  readonly trees: readonly unknown[];
  readonly counts: { readonly running: number; readonly skipped: number };
}

/** Runs the command and checks its output against the document's shape. */
async function printed(...args: string[]): Promise<Printed> {
  // Arguments after `--` belong to another program.
  const own = args.includes('--') ? args.indexOf('--') : args.length;
  const { stdout, stderr } = await home.run(args.toSpliced(own, 0, '--json'));
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, 1, `${args.join(' ')}: ${stdout}${stderr}`);
  const document = JSON.parse(lines[0] ?? '') as { schema: string };
  const shape = SHAPES.get(document.schema);
  assert.ok(shape !== undefined, `${args.join(' ')}: ${stdout}${stderr}`);
  const read = shape.safeParse(document);
  assert.ok(read.success, `coppice ${args.join(' ')}: ${read.success ? '' : z.prettifyError(read.error)}`);
  seen.add(document.schema);
  return document as unknown as Printed;
}

async function logLines(id: string): Promise<readonly string[]> {
  const { stdout } = await home.run(['logs', id, '--json']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((text) => {
      const read = line.safeParse(JSON.parse(text));
      assert.ok(read.success, `${text}\n${read.success ? '' : z.prettifyError(read.error)}`);
      return (read.data as { kind: string }).kind;
    });
}

before(() => {
  home = makeHome();
  home.configure({
    agents: { tidy: { description: 'Tidies.' } },
    channels: { file: { reports: join(home.folder, 'reports.md') } },
  });
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: RULES }));
  mkdirSync(join(home.work, '.coppice', 'agents'), { recursive: true });
  writeFileSync(join(home.work, '.coppice/agents/reviewer.md'), '---\nname: reviewer\n---\nReview.\n');
});

it('without a ledger: profiles, trust, doctor, errors', async () => {
  await printed('profiles');
  await printed('trust', '--yes');
  await printed('trust', '--revoke');
  await printed('doctor');
  await printed('show', 'nobody');
});

it('branches: merge', async () => {
  runGit(home.work, 'init', '--quiet', '--initial-branch', 'main');
  runGit(home.work, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  await printed('run', 'branch', ...MODEL);
  await printed('merge', 'branched');
});

it('a tree: run, ps, tree, show, logs, send, wait, kill', async () => {
  const { id } = await printed('run', 'go', ...MODEL);
  await printed('ps', '--all');
  await printed('tree', id);
  await printed('tasks', id);
  await printed('budget', id);
  await printed('send', 'kid', 'more');
  await printed('show', 'kid');
  assert.deepEqual([...new Set(await logLines(id))].toSorted(), ['assistant', 'event', 'result', 'user']);
  assert.ok((await logLines('kid')).length > 0);
  await printed('wait', 'kid', '--timeout', '0');
  await printed('wait', id);
  await printed('rewind', id, '--to', '1');
  await printed('kill', id);
});

it('a run that fails, one that is stopped, one that is entered, one that is only estimated', async () => {
  await printed('run', '--dry-run', ...MODEL);
  const failed = await printed('run', 'nothing answers this', ...MODEL);
  assert.equal(failed.status, 'failed');
  const stopped = await printed('run', 'wait', '--timeout', '0.5', ...MODEL);
  assert.deepEqual([stopped.status, stopped.error.code], ['stopped', 'timed_out']);
  await printed('resume', stopped.id, '--timeout', '0.5');
  const { id } = await printed('run', 'wait', '--detach', ...MODEL);
  await printed('kill', id);
});

it('an approval', async () => {
  const { ended } = home.start(['run', 'ask', '--ask', '--json', ...MODEL]);
  let open: Printed['approvals'] = [];
  await until(async () => {
    ({ approvals: open } = await printed('approvals', 'list'));
    return open.length === 1;
  }, 'a question');
  const id = open[0]?.id ?? '';
  await printed('approvals', 'allow', id, '--always', '--rule', 'bash');
  await printed('approvals', 'rules', 'list');
  await printed('approvals', 'rules', 'remove', id);
  const run = JSON.parse((await ended).stdout) as { id: string; status: string };
  assert.equal(run.status, 'done');
  assert.ok((await logLines(run.id)).includes('event'));
});

it('a tree as documents', async () => {
  await printed('export');
  await printed('usage', '--by', 'tree');
  assert.match(
    (await home.run(['usage', '--by', 'model'])).stdout,
    /^REQUESTS .* MODEL\n[\s\S]* scripted\/.*\n +\d+ .* in all\n$/,
  );
  assert.match(
    (await home.run(['usage', '--by', 'agent', '--since', '1d'])).stdout,
    /^REQUESTS .* AGENT\n[\s\S]* [0-9a-f]{8} main\n[\s\S]* in all\n$/,
  );
  assert.match((await home.run(['usage', '--since', '9999-01-01'])).stderr, /has not come yet/);
  await printed('search', 'rules');
  await printed('blame', join(home.work, 'rules.json'));
  await printed('why', 'main');
  await printed('diff', 'main', 'main');
  await printed('what-if', 'main', '--at', '1', '--here');
});

it('background runs', async () => {
  await home.run(['run', 'spawn', '--no-wait', '--toolset', 'sessions', ...MODEL]);
  const { runs } = await printed('subagent', 'list');
  const id = runs[0]?.id ?? '';
  await printed('subagent', 'show', id);
  await printed('subagent', 'cancel', id);
  await printed('subagent', 'history');
});

it('a job, its runs and their deliveries', async () => {
  await printed(
    'cron',
    'add',
    'nightly',
    '--every',
    '10m',
    '--task',
    'tick',
    '--deliver',
    'file:reports',
    ...MODEL,
  );
  await printed('cron', 'update', 'nightly', '--cron', '0 3 * * *');
  for (const verb of ['disable', 'enable', 'show']) await printed('cron', verb, 'nightly');
  await printed('cron', 'list');
  await printed('cron', 'run', 'nightly');
  await printed('cron', 'run', 'nightly', '--detach');
  await printed('cron', 'runs', 'nightly');
  await printed('deliveries', 'list');
  await printed('deliveries', 'retry');
  await printed('cron', 'rm', 'nightly');
});

it('MCP servers', async () => {
  const program = join(root, 'test', 'servers', 'mcp-server.ts');
  await printed('mcp', 'add', 't', '--', process.execPath, program, '{}');
  await printed('mcp', 'list');
  await printed('mcp', 'test');
  await printed('mcp', 'add', 'web', '--url', 'http://127.0.0.1:1/');
  await printed('mcp', 'login', 'web', '--forget');
});

it('workflows', async () => {
  const folder = join(home.work, '.coppice', 'workflows');
  mkdirSync(folder, { recursive: true });
  const script =
    "export const meta = { name: 'both', description: 'two', phases: [{ title: 'One' }] }\nphase('One')\nreturn parallel([() => agent('slow', { label: 'stuck' }), () => agent('boom', { model: 'none/x' })])";
  writeFileSync(join(folder, 'both.js'), script);
  writeFileSync(join(folder, 'broken.js'), 'return 1');
  await home.run(['trust', '--yes']);
  await printed('workflow', 'list');
  await printed('workflow', 'check', 'both');
  const { child, ended } = home.start(['workflow', 'run', 'both', '--yes', ...MODEL]);
  const show = () => printed('workflow', 'show', 'both');
  await until(async () => {
    if ((await home.run(['workflow', 'show', 'both'])).code !== 0) return false;
    return (await show()).counts.running === 1;
  }, 'the run is at work');
  await printed('workflow', 'list', '--runs');
  await printed('workflow', 'pause', 'both');
  await printed('workflow', 'resume', 'both');
  await printed('workflow', 'send', 'both', 'hurry');
  await printed('workflow', 'save', 'both', 'again');
  await printed('workflow', 'skip', 'stuck');
  await ended;
  assert.equal((await show()).counts.skipped, 1);
  child.kill();
});

it('a link to the server', async () => {
  const { child, ended } = home.start(['serve', '--listen', '0', '--log', 'json']);
  try {
    await until(async () => (await home.run(['web', '--json'])).code === 0, 'a server');
    await printed('web');
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
});

it('workers, and what is old', async () => {
  const { child, ended } = home.start(['worker', '--log', 'json']);
  let workers: Printed['workers'] = [];
  try {
    await until(async () => {
      ({ workers } = await printed('worker', 'list'));
      return workers.length === 1;
    }, 'a worker');
    await printed('worker', 'drain', workers[0]?.id ?? '');
  } finally {
    child.kill();
    await ended;
  }
  const { trees } = await printed('gc', '--older-than', '1s', '--idle', '--dry-run');
  assert.ok(trees.length > 0);
});

it('a run as a test', async () => {
  await home.run(['run', 'hi', '--name', 'told', ...MODEL]);
  assert.equal((await home.run(['record', 'told', '--out', 'case.json'])).code, 0);
  await printed('replay', 'case.json');
  await printed('tournament', 'case.json', '--here');
});

it('every document of docs/json.md that commands print was printed', () => {
  assert.deepEqual(
    JSON_DOCUMENTS.filter(({ name, by }) => by.length > 0 && !seen.has(name)).map(({ name }) => name),
    [],
  );
});

it('every document of the sources is in docs/json.md, or on a page of its own', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const named = sources.flatMap((name) =>
    [...readFileSync(join(root, 'src', name), 'utf8').matchAll(/schema: '(coppice\/[a-z-]+\/v\d+)'/g)].map(
      ([, schema = '']) => schema,
    ),
  );
  assert.ok(named.length >= 25, String(named.length));
  for (const name of new Set(named)) assert.ok(SHAPES.has(name) || ELSEWHERE.includes(name), name);
});
