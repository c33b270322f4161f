/**
 * The step of action.yml that runs coppice (docs/github-action.md). Its inputs are variables; what agents and models say reaches neither a shell nor the runner's
 * commands. It needs nothing but Node.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, normalize, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';

type Json = Readonly<Record<string, unknown>>;

interface Finding {
  readonly level: 'error' | 'warning' | 'notice';
  readonly path: string;
  readonly line: number;
  readonly end_line?: number | undefined;
  readonly column?: number | undefined;
  readonly title?: string | undefined;
  readonly message: string;
}

const { env } = process;
const input = (name: string) => (env[`COPPICE_ACTION_${name}`] ?? '').trim();
const lines = (name: string) =>
  input(name)
    .split(/\r?\n/)
    .flatMap((line) => line.trim() || []);

/** What GitHub shows of one step at most is less. */
const FINDINGS_MAX = 50;
const ANSWER_MAX = 200_000;
const SHOWN_MAX = 60_000;
const SECRET_MIN = 8;
const PROGRAM = 'coppice';

const secrets = Object.entries(env).flatMap(([name, value = '']) =>
  /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name) && value.length >= SECRET_MIN ? [value] : [],
);

function withoutSecrets(text: string): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** Text in a command of the runner; `in_property`: in one of its properties. */
function escaped(text: string, in_property = false): string {
  const data = withoutSecrets(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return in_property ? data.replaceAll(':', '%3A').replaceAll(',', '%2C') : data;
}

/** Writes an output of the step. The delimiter cannot be guessed, so that no text ends it early. */
function output(name: string, value: string): void {
  if (env.GITHUB_OUTPUT === undefined) return;
  const end = `end-${randomUUID()}`;
  appendFileSync(env.GITHUB_OUTPUT, `${name}<<${end}\n${withoutSecrets(value)}\n${end}\n`);
}

function fail(message: string, code: number): never {
  process.stdout.write(`::error title=Coppice::${escaped(message)}\n`);
  process.exit(code);
}

/** Runs coppice; what it tells people goes to the log, where the runner carries out nothing of it. */
async function coppice(args: readonly string[], stdin: string): Promise<{ out: string; code: number }> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('COPPICE_ACTION_'));
  const child = spawn(PROGRAM, args, { env: Object.fromEntries(own), stdio: 'pipe' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const out: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => out.push(piece));
  const told = createInterface({ input: child.stderr });
  told.on('line', (line) => process.stdout.write(`${withoutSecrets(line)}\n`));
  const code = await new Promise<number>((done) => {
    child.on('error', (error) => {
      process.stdout.write(`${error.message}\n`);
      done(1);
    });
    child.on('close', (code) => done(code ?? 1));
  });
  return { out: Buffer.concat(out).toString(), code };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Findings in a result: JSON, also in a block of the answer, or lines such as `src/a.ts:3:7: error: text`. */
function findingsIn(answer: string): Finding[] {
  const [, block = ''] = /^```json\n([\s\S]*?)^```/m.exec(answer) ?? [];
  const given = jsonIn(answer) ?? jsonIn(block);
  const list = Array.isArray(given) ? given : (given as Json | null | undefined)?.findings;
  const found = Array.isArray(list) ? list.map(findingOf) : answer.split('\n').map(findingInLine);
  const folder = resolve(input('FOLDER') || '.');
  return found.flatMap((one) => {
    if (one === null || !Number.isSafeInteger(one.line) || one.line < 1 || isAbsolute(one.path)) return [];
    const path = relative(resolve(env.GITHUB_WORKSPACE ?? '.'), join(folder, normalize(one.path)));
    return path.startsWith('..') || !existsSync(join(folder, one.path)) ? [] : [{ ...one, path }];
  });
}

function levelOf(given: unknown): Finding['level'] {
  const level = String(given ?? '').toLowerCase();
  if (/^(error|critical|high|blocker)$/.test(level)) return 'error';
  return /^(notice|note|info|low)$/.test(level) ? 'notice' : 'warning';
}

function findingOf(given: unknown): Finding | null {
  const one = (typeof given === 'object' && given !== null ? given : {}) as Json;
  const [path, message] = [one.path ?? one.file, one.message ?? one.text ?? one.problem];
  if (typeof path !== 'string' || typeof message !== 'string') return null;
  const place = {
    line: Number(one.line ?? one.start_line ?? 1),
    end_line: numberOf(one.end_line),
    column: numberOf(one.column),
  };
  const title = typeof one.title === 'string' ? one.title : undefined;
  return { level: levelOf(one.level ?? one.severity), path, ...place, title, message };
}

function numberOf(given: unknown): number | undefined {
  return Number.isSafeInteger(given) ? (given as number) : undefined;
}

function findingInLine(text: string): Finding | null {
  const match =
    /^[\s*-]*`?([^\s:`][^:`]*):(\d+)(?::(\d+))?`?:?\s+(?:(error|warning|notice|note|info):\s*)?(\S.*)$/i.exec(
      text,
    );
  if (match === null) return null;
  const [, path = '', line, column, level, message = ''] = match;
  return {
    level: levelOf(level),
    path,
    line: Number(line),
    column: column === undefined ? undefined : Number(column),
    message,
  };
}

function annotate({ level, path, line, end_line, column, title, message }: Finding): void {
  const place = Object.entries({ file: path, line, endLine: end_line, col: column, title })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${escaped(String(value), true)}`]))
    .join(',');
  process.stdout.write(`::${level} ${place}::${escaped(message)}\n`);
}

/** A block that shows text as it is: a reader's page loads no picture and follows no link of it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** Text as it is in a cell of a table. */
function cell(text: unknown): string {
  const plain = withoutSecrets(String(text ?? ''))
    .replaceAll(/\s+/g, ' ')
    .slice(0, 200);
  return plain.replaceAll(/[\\`*_{}[\]()#+.!|<>&~:@-]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function summarize(run: Json, answer: string, findings: readonly Finding[], cost: string): void {
  if (env.GITHUB_STEP_SUMMARY === undefined) return;
  const agents = Array.isArray(run.agents) ? (run.agents as Json[]) : [];
  const usage = (run.usage ?? {}) as Json;
  const rows = agents
    .slice(0, 100)
    .map(
      (one) =>
        `| ${cell(one.name)} | ${cell(one.outcome_text)} | ${cell(one.model)} | ${cell(one.tool_calls)} | ${cell(one.cost_usd)} |`,
    );
  const text = [
    `### Coppice: ${cell(run.outcome_text ?? run.outcome)}`,
    `${agents.length} agents, ${cost === '' ? 'cost not known' : `${cost} USD`}, ${cell(usage.input)} tokens in, ${cell(usage.output)} out, ${findings.length} findings. Tree ${cell(run.id)}.`,
    fenced(withoutSecrets(answer.slice(0, SHOWN_MAX))),
    ['| agent | outcome | model | calls | USD |', '| --- | --- | --- | --- | --- |', ...rows].join('\n'),
  ];
  appendFileSync(env.GITHUB_STEP_SUMMARY, `${text.join('\n\n')}\n`);
}

const [task, workflow] = [input('TASK'), input('WORKFLOW')];
if ((task === '') === (workflow === '')) fail('Give a task or a workflow, and not both.', 2);
const database = `sqlite:${join(env.RUNNER_TEMP ?? '.', `coppice-${randomUUID()}.db`)}`;
const flags = [
  ...['--json', `--database=${database}`, `--cwd=${resolve(input('FOLDER') || '.')}`],
  ...(input('MODEL') === '' ? [] : [`--model=${input('MODEL')}`]),
  ...(input('PROFILE') === '' ? [] : [`--profile=${input('PROFILE')}`]),
  ...(input('BUDGET') === '' ? [] : [`--limit=cost=${input('BUDGET')}`]),
  ...(input('TIMEOUT') === '' ? [] : [`--timeout=${input('TIMEOUT')}`]),
  ...lines('LIMITS').map((limit) => `--limit=${limit}`),
  ...lines('ALLOW').map((rule) => `--allow=${rule}`),
  ...lines('DENY').map((rule) => `--deny=${rule}`),
];
const given = input('ARGS') === '' ? [] : [`--args=${input('ARGS')}`];
const quiet = `quiet-${randomUUID()}`;
process.stdout.write(`::stop-commands::${quiet}\n`);
const { out, code } =
  workflow === ''
    ? await coppice(['run', ...flags, '-'], task)
    : await coppice(['workflow', 'run', ...flags, ...given, '--', workflow], '');
const document = (jsonIn(out) ?? {}) as Json;
const page = join(env.RUNNER_TEMP ?? '.', `coppice-${String(document.id)}.html`);
if (typeof document.id === 'string' && input('PAGE') !== '')
  await coppice(['export', `--database=${database}`, '--html', `--out=${page}`, document.id], '');
process.stdout.write(`\n::${quiet}::\n`);

const error = document.error as Json | null | undefined;
if (typeof document.id !== 'string') {
  output('exit-code', String(code));
  fail(
    [error?.message ?? 'coppice could not be run', error?.hint].filter(Boolean).join('. '),
    code === 0 ? 1 : code,
  );
}
const answer = String(document.reply ?? '');
const agents = Array.isArray(document.agents) ? (document.agents as Json[]) : [];
const costs = agents.flatMap(({ cost_usd }) => (typeof cost_usd === 'number' ? [cost_usd] : []));
const cost = costs.length === 0 ? '' : costs.reduce((sum, one) => sum + one, 0).toFixed(4);
const findings = input('ANNOTATIONS') === 'false' ? [] : findingsIn(answer);
for (const finding of findings.slice(0, FINDINGS_MAX)) annotate(finding);
output('outcome', String(document.outcome));
output('answer', answer.slice(0, ANSWER_MAX));
output('tree', document.id);
output('cost', cost);
output('exit-code', String(code));
if (existsSync(page)) {
  writeFileSync(page, withoutSecrets(readFileSync(page, 'utf8')));
  output('page', page);
}
summarize(document, answer, findings, cost);
if (code !== 0) fail(`${document.outcome_text ?? document.outcome}`, code);
