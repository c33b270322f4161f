// Proves that commands which the program prints as hints work as they stand, with the database and configuration that were given; that a server which is not
// there is called unreachable, by `--server` and by doctor; and that `ps`, `logs -f`, `resume` and `show` tell what is new, and end.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { withSameLedger } from '../../src/settings/suggested-command.ts';
import { type Home, makeHome } from './run-cli.ts';

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:9999';

const FORK = [
  { name: 'fork', input: { name: 'kid', prompt: 'x' } },
  { name: 'bash', input: { command: 'echo hi' } },
];
const RULES = {
  rules: [
    { when: { root: true, step: 0 }, calls: FORK },
    { when: { root: true, step: 1 }, calls: [{ name: 'wait', input: { timeout: 1 } }] },
    { say: 'the last words' },
  ],
};

function home(): Home & { readonly flags: readonly string[] } {
  const made = makeHome();
  writeFileSync(join(made.work, 'rules.json'), JSON.stringify(RULES));
  const config = join(made.folder, 'other config.json');
  writeFileSync(config, JSON.stringify({ agents: { defaults: { model: 'scripted:rules.json' } } }));
  return { ...made, flags: ['--database', join(made.folder, 'other ledger.db'), '--config', config] };
}

/** The commands in a text, as a shell would split them. */
function commandsIn(text: string): string[][] {
  const found = text.matchAll(
    /\bcoppice ((?:--\w+ (?:'[^']*'|\S+) ?)*(?:'[^']*'|[^\s·;,)])+(?: (?!·|\()(?:'[^']*'|[^\s·;,)]+))*)/g,
  );
  return [...found].map(([, words = '']) =>
    [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
  );
}

describe('hints', () => {
  it('carry --database and --config, and what they print works', async () => {
    const { run, flags } = home();
    const begun = await run(['run', 'go', '--detach', '--allow', 'bash:*', ...flags]);
    const [id = ''] = begun.stdout.trim().split('\n');
    const followed = commandsIn(begun.stderr.split('\n')[0] ?? '').filter(
      ([first]) => first === '--database',
    );
    assert.deepEqual(
      followed.map((words) => words.slice(4).join(' ')),
      [
        `logs -f ${id.slice(0, 8)}`,
        `tree ${id.slice(0, 8)}`,
        `--tree ${id.slice(0, 8)}`,
        `wait ${id.slice(0, 8)}`,
      ],
    );
    const resumed = await run(['resume', ...flags]);
    assert.equal(resumed.code, 0, resumed.stderr);
    for (const words of followed.filter((one) => !one.includes('--tree'))) {
      const { code, stdout, stderr } = await run(words);
      assert.equal(code, 0, `${words}: ${stderr}`);
      assert.match(stdout, words.includes('wait') ? /./ : /the last words|main/);
    }
    const said: string[] = [];
    for (const words of [
      ['ps'],
      ['logs', 'nobody'],
      ['cron', 'list'],
      ['cron', 'show', 'none'],
      ['subagent', 'list'],
      ['worker', 'list'],
      ['deliveries', 'retry', 'none-such'],
      ['resume'],
    ]) {
      const { stdout, stderr } = await run([...words, ...flags]);
      const printed = `${stdout}${stderr}`.match(/\bcoppice (?!run {2}|resume {2}).*/g) ?? [];
      said.push(...printed);
      for (const line of printed)
        assert.ok(
          line.startsWith(`coppice --database '${flags[1]}' --config '${flags[3]}' `),
          `${words}: ${line}`,
        );
    }
    assert.ok(said.length >= 7, said.join('\n'));
  });

  it('name the server where the command takes one', () => {
    const context = { options: { server: 'http://host:1', config: '/c.json' } };
    assert.equal(
      withSameLedger(context, 'See: coppice cron list, or start coppice serve; the coppice was closed'),
      'See: coppice --server http://host:1 --config /c.json cron list, or start coppice --config /c.json serve; the coppice was closed',
    );
    const whole = 'coppice resume 1a2b --server http://host:1 --config /c.json';
    assert.equal(withSameLedger(context, whole), whole);
    assert.equal(withSameLedger({ options: {} }, 'coppice ps'), 'coppice ps');
  });
});

describe('a server that is not there', () => {
  it('is unreachable for every command that asks one', async () => {
    const { run } = makeHome();
    const asked = async (words: readonly string[]) => {
      const { code, stdout } = await run([...words, '--json', '--server', NOBODY], {
        env: { COPPICE_TOKEN: 'x' },
      });
      assert.equal(code, 1);
      const { error } = JSON.parse(stdout) as {
        error: { code: string; message: string; retryable: boolean };
      };
      assert.deepEqual([error.code, error.retryable], ['E_UNREACHABLE', true]);
      assert.match(error.message, /^the server at http:\/\/127\.0\.0\.1:9999 is unreachable: .*ECONNREFUSED/);
    };
    await Promise.all([['ps'], ['run', 'hi'], ['logs', '-f', 'x']].map(asked));
  });

  it('is not called ok by doctor: a local provider, an MCP server', async () => {
    const { run, configure } = makeHome();
    configure({
      providers: { near: { type: 'openai-compatible', baseURL: `${NOBODY}/v1` } },
      mcp: { servers: { away: { url: `${NOBODY}/mcp` } } },
    });
    const { checks } = JSON.parse((await run(['doctor', '--json'])).stdout) as {
      checks: { name: string; ok: boolean; text: string }[];
    };
    for (const name of ['near', 'mcp:away']) {
      const check = checks.find((one) => one.name.trim() === name);
      assert.equal(check?.ok, false, JSON.stringify(check));
      assert.match(check.text, /ECONNREFUSED/);
    }
  });
});

describe('what is over', () => {
  it('ps leaves out trees at rest that have not changed for a day, and counts them', async () => {
    const { run, flags } = home();
    const database = flags[1] ?? '';
    const ids: string[] = [];
    for (const task of ['first', 'second']) {
      const { stdout } = await run(['run', task, '--json', ...flags]);
      ids.push((JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { id: string }).id);
    }
    const [old = '', recent = ''] = ids;
    const ledger = new DatabaseSync(database);
    ledger.prepare('UPDATE agents SET updated_at = updated_at - 90000000 WHERE root_id = ?').run(old);
    ledger.close();
    const { stdout } = await run(['ps', ...flags]);
    assert.match(stdout, /second/);
    assert.doesNotMatch(stdout, /first/);
    assert.match(stdout, /^and 1 older tree; see all: coppice .*ps --all$/m);
    for (const more of [['--all'], ['--tree', old]])
      assert.match((await run(['ps', ...more, ...flags])).stdout, /first/);
    const { agents } = JSON.parse((await run(['ps', '--json', ...flags])).stdout) as {
      agents: { root_id: string }[];
    };
    assert.deepEqual(new Set(agents.map(({ root_id }) => root_id)), new Set([old, recent]));
  });

  it('logs -f ends once the tree rests and nobody leads it; resume does not print the old answer; show tells calls apart', async () => {
    const { run, flags } = home();
    const ran = await run(['run', 'go', '--allow', 'bash:*', ...flags]);
    assert.equal(ran.stdout, 'the last words\n', ran.stderr);
    const followed = await run(['logs', '-f', ...flags]);
    assert.equal(followed.code, 0);
    assert.match(followed.stdout, /the last words\n$/);
    const resumed = await run(['resume', ...flags]);
    assert.deepEqual([resumed.code, resumed.stdout], [0, '']);
    assert.match(resumed.stderr, /nothing new; its last answer: coppice .* show [0-9a-f]{8}\n$/);
    const shown = (await run(['show', ...flags])).stdout;
    assert.match(
      shown,
      /^calls +3 in all its turns, those to other agents .*\nnewest turn +1 tool call \(bash 1\)/m,
    );
    assert.match((await run(['show', 'kid', ...flags])).stdout, /^newest turn +only words$/m);
  });
});

it('setup without a terminal says how a model is connected there', async () => {
  const { code, stderr } = await makeHome().run(['setup']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /setup asks, and needs a terminal .*\n {2}Without one: set the variable .*coppice doctor names them/,
  );
});
