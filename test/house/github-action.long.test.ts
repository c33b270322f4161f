/**
 * Proves the GitHub Action (docs/github-action.md) by doing what a runner does with action.yml: its steps run in bash, with inputs as variables; commands in the
 * log, the files of outputs and of the summary are read as the runner reads them. Coppice, its model and its ledger are real.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { temporaryFolder } from '../temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SECRET = 'sk-very-secret-0123456789';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly if?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}

const action = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};

type Outputs = Readonly<Record<string, string>>;

/** What the expressions of action.yml mean: inputs, outputs of steps, comparisons with texts, `always()`. */
function evaluator(inputs: Outputs, steps: ReadonlyMap<string, Outputs>, failed: () => boolean) {
  const meaningOf = (text: string): string => {
    const name = text.trim();
    if (/^'.*'$/.test(name)) return name.slice(1, -1);
    const input = /^inputs\.([\w-]+)$/.exec(name)?.[1];
    if (input !== undefined) {
      assert.ok(input in inputs, name);
      return inputs[input] ?? '';
    }
    const [, step = '', output = ''] = /^steps\.(\w+)\.outputs\.([\w-]+)$/.exec(name) ?? assert.fail(name);
    return steps.get(step)?.[output] ?? '';
  };
  return {
    text: (text: string) => text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, name: string) => meaningOf(name)),
    runs(condition = 'success()') {
      const parts = condition.split('&&').map((part) => part.trim());
      if (!parts.includes('always()') && failed()) return false;
      return parts
        .filter((part) => !part.endsWith('()'))
        .every((part) => {
          const [, left = '', sign, right = ''] = /^(.*?)(==|!=)(.*)$/.exec(part) ?? assert.fail(part);
          return (meaningOf(left) === meaningOf(right)) === (sign === '==');
        });
    },
  };
}

/** The outputs in a file, as the runner reads them. */
function outputsIn(text: string): Outputs {
  const found: Record<string, string> = {};
  for (let rest = text; rest !== ''; ) {
    const [head = '', name = '', end = ''] = /^([\w-]+)<<(.+)\n/.exec(rest) ?? assert.fail(rest);
    const to = rest.indexOf(`\n${end}\n`, head.length - 1);
    found[name] = rest.slice(head.length, to);
    rest = rest.slice(to + end.length + 2);
  }
  return found;
}

/** The commands in a log that the runner carries out. */
function commandsIn(log: string): string[] {
  let quiet: string | null = null;
  return log.split('\n').flatMap((line) => {
    if (quiet !== null) {
      if (line === `::${quiet}::`) quiet = null;
      return [];
    }
    const [, token] = /^::stop-commands::(.*)$/.exec(line) ?? [];
    if (token !== undefined) quiet = token;
    return token === undefined && /^(?:::|##\[)/.test(line) ? [line] : [];
  });
}

/** A workspace with two source files, and coppice in PATH. */
function workspace(rules: readonly object[]) {
  const folder = temporaryFolder();
  const [space, temp, bin] = ['work', 'temp', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const name of [join(space, 'src'), temp, bin]) mkdirSync(name, { recursive: true });
  for (const name of ['a.ts', 'b.ts']) writeFileSync(join(space, 'src', name), 'x\n'.repeat(9));
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ rules }));
  writeFileSync(
    join(bin, 'coppice'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'src/cli/main.ts')}' "$@"\n`,
  );
  chmodSync(join(bin, 'coppice'), 0o755);
  return { folder, space, temp, bin, model: `scripted:${join(folder, 'rules.json')}` };
}

/** Runs the action. `used`: the other actions that it used, with their inputs. */
function runAction(on: ReturnType<typeof workspace>, given: Outputs) {
  const inputs = {
    ...Object.fromEntries(Object.entries(action.inputs).map(([name, one]) => [name, one.default])),
    ...{ model: on.model, version: 'installed', ...given },
  };
  const steps = new Map<string, Outputs>();
  const used: { readonly uses: string; readonly with: Outputs }[] = [];
  const files = { GITHUB_OUTPUT: join(on.temp, 'output'), GITHUB_STEP_SUMMARY: join(on.temp, 'summary') };
  let [log, code] = ['', 0];
  const read = evaluator(inputs, steps, () => code !== 0);
  for (const step of action.runs.steps) {
    if (!read.runs(step.if)) continue;
    const filled = (named: Outputs = {}) =>
      Object.fromEntries(Object.entries(named).map(([name, value]) => [name, read.text(value)]));
    if (step.uses !== undefined) used.push({ uses: step.uses, with: filled(step.with) });
    if (step.run === undefined) continue;
    for (const file of Object.values(files)) writeFileSync(file, '');
    writeFileSync(join(on.temp, 'step.sh'), step.run);
    const done = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', join(on.temp, 'step.sh')], {
      cwd: on.space,
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        ...{ PATH: `${on.bin}:${process.env.PATH}`, HOME: on.folder, XDG_DATA_HOME: on.folder, CI: 'true' },
        ...{
          GITHUB_ACTION_PATH: ROOT,
          GITHUB_WORKSPACE: on.space,
          RUNNER_TEMP: on.temp,
          OPENAI_API_KEY: SECRET,
        },
        ...files,
        ...filled(step.env),
      },
    });
    log += done.stdout + done.stderr;
    code ||= done.status ?? 1;
    if (step.id !== undefined) steps.set(step.id, outputsIn(readFileSync(files.GITHUB_OUTPUT, 'utf8')));
  }
  const summary = readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8');
  const outputs = Object.fromEntries(
    Object.entries(action.outputs).map(([name, { value }]) => [name, read.text(value)]),
  );
  return { log, code, commands: commandsIn(log), outputs, summary, used };
}

describe('the GitHub Action', () => {
  it('puts no input into a script', () => {
    assert.equal(action.runs.using, 'composite');
    for (const { run = '', env = {}, uses } of action.runs.steps) {
      assert.doesNotMatch(run, /\$\{\{/);
      if (uses === undefined)
        for (const value of Object.values(env)) assert.match(value, /^\$\{\{ inputs\.[\w-]+ \}\}$/);
    }
    const passed = action.runs.steps.flatMap(({ env = {}, with: own = {}, if: when = '' }) => [
      ...Object.values(env),
      ...Object.values(own),
      when,
    ]);
    for (const name of Object.keys(action.inputs))
      assert.ok(passed.join(' ').includes(`inputs.${name}`), name);
  });

  it('annotates lines, sums up, gives outputs and the page, and exits with 0', () => {
    const answer = [
      'Two problems:',
      '- `src/a.ts:3`: 100% of it, says "a, b: c"',
      'src/b.ts:4:7: error: odd',
      'src/none.ts:1: no such file',
      '../temp/step.sh:1: outside',
      'At 12:30: nothing.',
    ].join('\n');
    const on = workspace([{ when: { user: '^look: 5\\.?' }, say: answer }, { say: answer }]);
    const { code, commands, outputs, summary, used } = runAction(on, {
      task: 'look: 5',
      budget: '1.5',
      limits: 'turns=5\ntokens=10000',
    });
    assert.equal(code, 0);
    assert.deepEqual(commands, [
      '::warning file=src/a.ts,line=3::100%25 of it, says "a, b: c"',
      '::error file=src/b.ts,line=4,col=7::odd',
    ]);
    const { tree = '', page = '', ...rest } = outputs;
    assert.deepEqual(rest, { outcome: 'done', answer, cost: '', 'exit-code': '0' });
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>[\s\S]*100% of it/i);
    assert.ok(page.includes(tree) && tree.length === 36);
    assert.deepEqual(used, [
      { uses: 'actions/upload-artifact@v4', with: { name: 'coppice-tree', path: page } },
    ]);
    assert.match(
      summary,
      /^### Coppice: done\n\n1 agents, cost not known, \d+ tokens in, \d+ out, 2 findings\./,
    );
    assert.match(summary, /\n```text\nTwo problems:\n/);
    assert.match(summary, /\n\| main \| done \| /);
  });

  it('takes no order from what models and titles say', () => {
    const bad = [
      '$(touch pwned) `touch pwned`; touch pwned "',
      '::error::not ours',
      '::add-mask::x',
      '##[error]not ours',
      'EOF',
      'answer<<EOF',
      'outcome=failed',
      '````',
      '![x](https://example.com/?q=1)',
    ].join('\n');
    const on = workspace([{ say: bad }]);
    const title = `${bad}\n--yes`;
    const { code, commands, outputs, summary } = runAction(on, { task: title, profile: '', page: '' });
    assert.deepEqual([code, commands], [0, []]);
    assert.deepEqual([outputs.answer, outputs.outcome, outputs.page], [bad, 'done', '']);
    for (const place of [on.space, on.temp, ROOT]) assert.ok(!existsSync(join(place, 'pwned')));
    assert.ok(summary.includes(`\n\`\`\`\`\`text\n${bad}\n\`\`\`\`\`\n`), 'a picture in it is not loaded');
    // A flag in an input is the value of its own flag, and no other flag.
    const odd = runAction(on, { task: 'x', model: '--yes' });
    assert.equal(odd.code, 2);
    assert.match(odd.commands.join(), /^::error title=Coppice::.*--yes/);
  });

  it('keeps secrets out of the log, the outputs and the summary', () => {
    const on = workspace([{ say: `src/a.ts:1: the key is ${SECRET}` }]);
    const { log, outputs, summary, commands } = runAction(on, { task: `say ${SECRET}` });
    assert.deepEqual(commands, ['::warning file=src/a.ts,line=1::the key is ***']);
    const page = readFileSync(outputs.page ?? '', 'utf8');
    for (const text of [log, summary, page, ...Object.values(outputs)]) assert.ok(!text.includes(SECRET));
    assert.equal(outputs.answer, 'src/a.ts:1: the key is ***');
  });

  it('runs a workflow that is allowed, whose findings are data', () => {
    const on = workspace([{ say: 'a leak' }]);
    const findings =
      "[{ path: 'src/a.ts', line: 2, end_line: 3, severity: 'high', title: 'Leak, here', message: said }]";
    writeFileSync(
      join(on.space, 'find.js'),
      `export const meta = { name: 'find', description: 'finds' };\nconst said = await agent(args.what);\nreturn { findings: ${findings} };\n`,
    );
    const given = { workflow: 'find.js', args: '{"what":"look"}' };
    const refused = runAction(on, given);
    assert.equal(refused.code, 1);
    assert.match(refused.commands.join(), /^::error title=Coppice::the workflow find was not started/);
    const { code, commands, outputs } = runAction(on, { ...given, allow: 'workflow:find' });
    assert.deepEqual(commands, ['::error file=src/a.ts,line=2,endLine=3,title=Leak%2C here::a leak']);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(outputs.answer ?? '').findings[0].line, 2);
  });

  it('ends as coppice does, and keeps the page of what failed', () => {
    const on = workspace([{ when: { user: 'slow' }, delay_ms: 60_000, say: 'late' }]);
    const failed = runAction(on, { task: 'nothing fits' });
    assert.deepEqual([failed.code, failed.outputs.outcome, failed.outputs['exit-code']], [1, 'failed', '1']);
    assert.match(failed.commands.join(), /^::error title=Coppice::failed: /);
    assert.equal(failed.used.length, 1);
    const late = runAction(on, { task: 'slow', timeout: '1' });
    assert.deepEqual([late.code, late.outputs['exit-code']], [124, '124']);
    for (const given of [{}, { task: 'x', workflow: 'y' }]) {
      const wrong = runAction(on, given);
      assert.deepEqual(
        [wrong.code, wrong.commands],
        [2, ['::error title=Coppice::Give a task or a workflow, and not both.']],
      );
    }
  });
});
