// Proves the command line from a user's point of view: real processes, real ledger, exit codes, texts and JSON.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../../src/store/open-store.ts';
import { answerFor, forkingBrain } from '../../servers/forking-brain.ts';
import { startOpenAiChatServer } from '../../servers/openai-chat-server.ts';
import type { ProtocolServer } from '../../servers/protocol-server.ts';
import { type Home, makeHome } from '../run-cli.ts';

const ESCAPE = String.fromCharCode(27);

describe('coppice without a model', () => {
  let home: Home;
  before(() => {
    home = makeHome();
  });

  it('shows its help, its version, and suggests what was meant', async () => {
    const help = await home.run([]);
    assert.equal(help.code, 0);
    for (const command of ['run', 'demo', 'ps', 'tree', 'show', 'logs', 'send', 'kill', 'resume', 'doctor'])
      assert.match(help.stdout, new RegExp(`^ +${command}\\b`, 'm'));
    assert.match((await home.run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
    const wrong = await home.run(['rnu']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /Did you mean run/);
  });

  it('shows the help of a command below another one, and suggests which one was meant', async () => {
    const { code, stdout } = await home.run(['help', 'cron', 'add']);
    assert.deepEqual([code, stdout], [0, (await home.run(['cron', 'add', '--help'])).stdout]);
    const wrong = await home.run(['help', 'cron', 'ad']);
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.match(
      wrong.stderr,
      /unknown command 'ad' \(E_USAGE\)\n {2}Did you mean add\? .*\n {2}See: coppice cron --help/,
    );
  });

  it('without a key says what can be done, and exits 4', async () => {
    const result = await home.run(['run', 'hello']);
    assert.equal(result.code, 4);
    assert.match(result.stderr, /No model key found. Nothing was sent anywhere. \(E_NO_KEY\)/);
    assert.match(result.stderr, /coppice demo/);
    const json = JSON.parse((await home.run(['run', 'hello', '--json'])).stdout);
    assert.deepEqual(Object.keys(json.error), ['code', 'message', 'hint', 'retryable']);
  });

  it('refuses bad input with what is wrong and what to do', async () => {
    const cases: readonly (readonly [string[], number, RegExp])[] = [
      [
        ['run', 'x', '--model', 'antropic/x'],
        2,
        /no provider called "antropic".*\n.*Did you mean anthropic\?/,
      ],
      [['run', 'x', '--model', 'anthropic/x'], 4, /ANTHROPIC_API_KEY/],
      [
        ['approvals', 'lst'],
        2,
        /unknown command 'lst'.*\n.*Did you mean list\? .*allow.*\n.*See: coppice approvals --help/,
      ],
      [['approvals', '1a2b'], 2, /unknown command '1a2b'.*\n.*Commands: .*show/],
      [
        ['run', 'x', '--model', 'ollama/x', '--limit', 'children=many'],
        2,
        /"many" is not a valid value for the limit children/,
      ],
      [['run', 'x', '--model', 'ollama/x', '--limit', 'kids=1'], 2, /no limit called "kids".*\n.*children/],
      [
        ['run', 'x', '--model', 'ollama/x', '--toolset', 'proces'],
        2,
        /no toolset called "proces".*\n.*process/,
      ],
      [['run', 'x', '--model', 'ollama/x', '--allow', 'bash:'], 2, /E_USAGE/],
      [['run', 'x', '--model', 'ollama/x', '--allow', 'bsh:git'], 2, /no tool "bsh"\. Did you mean bash\?/],
      [
        ['run', 'x', '--model', 'ollama/x', '--cwd', '/nowhere/at/all'],
        2,
        /there is no folder \/nowhere\/at\/all/,
      ],
      ...['ps', 'tree', 'workflow run x', 'workflow list', 'cron list', 'approvals'].map(
        (line) =>
          [
            [...line.split(' '), '--cwd', '/nowhere/at/all'],
            2,
            /there is no folder \/nowhere\/at\/all \(E_NO_FOLDER\)/,
          ] as [string[], number, RegExp],
      ),
      [['run', ' ', '--model', 'ollama/x'], 2, /the prompt is empty/],
      [['run', 'x', '--thinking', 'deep'], 2, /Allowed choices are off, low, medium, high/],
      [['show', 'nobody'], 3, /no agent called "nobody" \(E_AGENT_NOT_FOUND\)/],
      [['tree'], 3, /there is no agent yet/],
      [['ps', '--database', 'mysql://x/y'], 2, /E_DB_URL/],
      [['ps', '--database', home.work], 2, /is a folder, not a database/],
    ];
    for (const [args, code, message] of cases) {
      const result = await home.run(args);
      assert.equal(result.code, code, `${args.join(' ')}: ${result.stderr}`);
      assert.match(result.stderr, message);
      assert.equal(/\n\s+at /.test(result.stderr), false, 'no stack trace');
    }
  });

  it('tells a mistake in the command line like every error, and whose help to read', async () => {
    const cases: readonly (readonly [string[], string, RegExp])[] = [
      [['pss'], "unknown command 'pss'", /Did you mean ps\?.*See: coppice --help/s],
      [['run', 'x', '--thinking', 'deep'], 'Allowed choices are', /^See: coppice run --help$/],
      [['cron', 'add'], "missing required argument 'name'", /^See: coppice cron add --help$/],
      [['cron', 'add', 'x', '--evry', '1h'], "unknown option '--evry'", /--every\?.*cron add --help/s],
      [['cron', 'ad'], "unknown command 'ad'", /See: coppice cron --help/],
      [['deliveries'], 'coppice deliveries needs a command', /^See: coppice deliveries --help$/],
      // What other programs call it, where the command has it.
      [['serve', '--port', '1'], "unknown option '--port'", /^Here that is --listen HOST:PORT\nSee: /],
      [['run', '--port', '1'], "unknown option '--port'", /^See: coppice run --help$/],
      [['-p', 'hi'], "unknown option '-p'", /^Here that is coppice run "TASK"\nSee: coppice --help$/],
      [['kill', 'x', '--force'], "unknown option '--force'", /^Here that is --yes\n/],
      [['stop', 'x'], "unknown command 'stop'", /^Here that is coppice kill ID\nSee: coppice --help$/],
      [['cron', 'delete', 'x'], "unknown command 'delete'", /^(?!Here).*See: coppice cron --help$/s],
      [[], 'coppice needs a command', /^See: coppice --help$/],
    ];
    for (const [args, message, hint] of cases) {
      const { code, stdout } = await home.run([...args, '--json']);
      const { schema, error } = JSON.parse(stdout);
      assert.deepEqual([code, schema, error.code], [2, 'coppice/error/v1', 'E_USAGE'], args.join(' '));
      assert.ok(error.message.includes(message), error.message);
      assert.match(error.hint, hint);
    }
    const { stdout, stderr } = await home.run(['cron', 'add']);
    assert.deepEqual(
      [stdout, stderr],
      ['', "error: missing required argument 'name' (E_USAGE)\n  See: coppice cron add --help\n"],
    );
  });

  it('takes a configuration in which nothing stands yet as one without keys', async () => {
    for (const text of ['', ' \n', '\ufeff']) {
      home.configure(text);
      assert.equal((await home.run(['ps'])).code, 0, JSON.stringify(text));
    }
  });

  it('names the place of a fault in the configuration', async () => {
    for (const [configuration, message] of [
      ['{"model": "x",\n  "providrs": {}}', /unknown key "providrs".*\n.*Did you mean providers\?/],
      [
        '{"agents": {"defaults": {"tolsets": []}}}',
        /unknown key "agents.defaults.tolsets".*\n.*Did you mean toolsets\?/,
      ],
      [
        '{"providers": {"local": {"type": "openai-compatible", "baseUrl": "http://x"}}}',
        /unknown key "providers.local.baseUrl".*\n.*Did you mean baseURL\?/,
      ],
      ['{"model":\n  oops}', /not valid JSON at line 2, column 3/],
      [
        '{"model": "a/b", // mine\n}',
        /not valid JSON at line 1, column 18: .*\n.*There are no comments in JSON/,
      ],
      ['{"mcp": {"servers": {},\n}}', /not valid JSON at line 2, column 1: .*\n.*no comma before } or \]/],
      [
        '{"agents": {"a": {"description": "}\\" : {"}, "defaults": {"permissions": {"deny": ["bash"]}}, "defaults": {}}}',
        /"defaults" stands twice in one object of .*\n {2}JSON takes only the last/,
      ],
      ['{"model": 7}', /model in .*: a string is expected, and this is 7 /],
      [
        '{"channels": {"webhook": {"ops": {"url": "https://a.example"}}}}',
        /channels\.webhook\.ops\.secretEnv in .*: this key is missing .*\n {2}channels\.webhook\.ops needs "secretEnv": the name of an environment variable$/m,
      ],
      [
        '{"providers": {"local": {}}}',
        /providers\.local\.type in .*: this key is missing .*\n {2}providers\.local needs "type": one of "anthropic", "openai", .*$/m,
      ],
      [
        '{"providers": {"local": {"type": "openai", "models": {"m": {"price": {"input": 1}}}}}}',
        /price\.output in .*: this key is missing .*\n {2}providers\.local\.models\.m\.price needs "output": a number$/m,
      ],
      ['{"keys": {"agnets": ["f2"]}}', /unknown key "keys.agnets".*\n.*Did you mean agents\?/],
      ['{"keys": {"agents": ["ctlr+x a"]}}', /keys.agents.0 in .*no key called "ctlr\+x"/],
    ] as const) {
      home.configure(configuration);
      const result = await home.run(['ps']);
      assert.equal(result.code, 2);
      assert.match(result.stderr, message);
    }
    // The same name in objects of their own, and texts like names.
    home.configure(
      '{"mcp": {"servers": {"a": {"command": "model", "args": ["model", "model"]}, "b": {"command": "{"}}}}',
    );
    assert.equal((await home.run(['ps'])).code, 0);
    home.configure({});
  });

  it('a configuration in the folder that is worked in is inert', async () => {
    mkdirSync(join(home.work, '.coppice'), { recursive: true });
    for (const file of ['coppice.json', 'config.json', '.coppice/config.json'])
      writeFileSync(join(home.work, file), '{"oops"');
    assert.equal((await home.run(['ps'])).code, 0);
  });

  it('a file that is no ledger is refused and not touched', async () => {
    const file = join(home.folder, 'notes.db');
    writeFileSync(file, 'these are my notes, not a database, and long enough to look like one '.repeat(20));
    const result = await home.run(['ps', '--database', `sqlite:${file}`]);
    assert.equal(result.code, 2);
    assert.match(result.stderr, /E_DB_CORRUPT/);
  });

  it('a command does not wait for a server that cannot be reached, and its message does not claim so', async () => {
    const { code, stderr } = await home.run(['ps', '--database', 'postgres://postgres@127.0.0.1:1/none']);
    assert.equal(code, 2);
    assert.match(stderr, /the server cannot be reached \(ECONNREFUSED\) \(E_DB_UNAVAILABLE\)\n {2}Try again/);
    assert.doesNotMatch(stderr, /waits|by itself/);
  });
});

describe('the demo', () => {
  it('works in an empty folder and in one with hostile names, and is seen by the other commands', async () => {
    for (const names of [[], ['-rf', 'a b.ts', "quote'd.py", 'new\nline.md', `${ESCAPE}[31mred.js`]]) {
      const home = makeHome();
      for (const name of names) writeFileSync(join(home.work, name), 'x\n');
      const result = await home.run(['demo']);
      assert.equal(result.code, 0, result.stderr);
      assert.match(result.stderr, /SCRIPTED DEMO/);
      for (const name of ['file-reader', 'code-analyzer', 'test-runner'])
        assert.match(result.stdout, new RegExp(`^${name} \\(received\\)$`, 'm'));
      assert.match(result.stdout, new RegExp(`^${names.length} files$`, 'm'));
      assert.equal(result.stderr.includes(ESCAPE), false, 'no terminal control without a terminal');
      const ps = await home.run(['ps']);
      assert.match(ps.stdout, /^ID +NAME +STATUS +PARENT +CALLS +TOKENS +AGE +TASK, DOING$/m);
      assert.match(ps.stdout, /file-reader +○ idle +main/);
      const { schema, agents } = JSON.parse((await home.run(['--json', 'ps'])).stdout);
      assert.equal(schema, 'coppice/agents/v1');
      assert.equal(agents.length, 4);
      assert.match((await home.run(['tree'])).stdout, /^├ file-reader/m);
      assert.match((await home.run(['show', 'test-runner'])).stdout, /^status +○ idle$/m);
      const logs = await home.run(['logs', 'file-reader']);
      assert.match(logs.stdout, /» .*#1 you: Audit this folder/);
      assert.match(logs.stdout, /send ok: \{"sent_to":/);
      assert.equal(logs.stdout.includes(ESCAPE), false);
      const sent = await home.run(['send', 'file-reader', 'more please']);
      assert.match(
        sent.stdout,
        /kept in the mailbox of file-reader; no process leads it: resume it with coppice resume/,
      );
      assert.match((await home.run(['kill', 'main', '--yes'])).stdout, /killed main and 3 descendants/);
      assert.equal((await home.run(['send', 'file-reader', 'x'])).code, 1);
      assert.equal((await home.run(['kill', 'main', '--yes'])).code, 1);
      assert.match((await home.run(['ps', '--all'])).stdout, /✗ dead/);
    }
  });
});

describe('runs on a local server', () => {
  let home: Home;
  let server: ProtocolServer;
  let got = Promise.withResolvers<void>();
  before(async () => {
    home = makeHome();
    server = await startOpenAiChatServer({
      record: false,
      answer: (exchange) => {
        const last = exchange.messages.findLast((message) => message.role === 'user')?.text ?? '';
        if (/^FORK/.test(exchange.messages[0]?.text ?? '')) return forkingBrain(exchange);
        if (/say hello/.test(last)) return { text: 'hello to you' };
        const results = exchange.messages.flatMap((message) => message.results);
        if (/try bash/.test(exchange.messages[0]?.text ?? ''))
          return results.length === 0
            ? { calls: [{ name: 'bash', input: { command: 'echo hi' } }] }
            : { text: results[0]?.output ?? '' };
        // A root that waits for the next message while its child works, which goes on until the root has got one.
        if (/a fork of/.test(exchange.messages.at(-1)?.text ?? ''))
          return got.promise.then(() => ({ text: 'worked' }));
        if (/hold on/.test(exchange.messages[0]?.text ?? '')) {
          if (results.length === 0) {
            got = Promise.withResolvers();
            return { calls: [{ name: 'fork', input: { name: 'kid', prompt: 'go' } }] };
          }
          if (results.length === 1) return { calls: [{ name: 'wait', input: { timeout: 600 } }] };
          got.resolve();
          return { text: `got ${results.at(-1)?.output}` };
        }
        return { fault: { status: 400, message: 'not in the play' } };
      },
    });
    home.configure({
      model: 'local/m',
      providers: { local: { type: 'openai-compatible', baseURL: `${server.url}/v1` } },
    });
  });
  after(async () => {
    await server.close();
  });

  it('answers on stdout, tells its progress on stderr, takes the prompt from a pipe', async () => {
    const result = await home.run(['run', '-'], { input: 'say hello\n' });
    assert.deepEqual([result.code, result.stdout], [0, 'hello to you\n']);
    assert.match(result.stderr, /from another terminal: coppice tree/);
  });

  it('takes a prompt of a megabyte, any Unicode, NUL and lone surrogates', async () => {
    const result = await home.run(['run', '-'], { input: `${'漢🎋\0'.repeat(120_000)} say hello` });
    assert.deepEqual([result.code, result.stdout], [0, 'hello to you\n']);
  });

  it('a hundred children: the right answer, as JSON too', async () => {
    const limits = ['--limit', 'children=100', '--limit', 'live=101'];
    const result = await home.run(['run', 'FORK 100', '--yes', '--json', ...limits]);
    assert.equal(result.code, 0, result.stderr);
    const run = JSON.parse(result.stdout);
    assert.equal(run.reply, answerFor(100));
    assert.equal(run.schema, 'coppice/run/v1');
    assert.equal(run.agents.length, 101);
  });

  it('what would need approval is denied, and the text says how to allow it', async () => {
    assert.match(
      (await home.run(['run', 'try bash'])).stdout,
      /nobody can give it in this run. A person can allow it with --allow bash or --yes/,
    );
    assert.equal((await home.run(['run', 'try bash', '--allow', 'bash:echo *'])).stdout, 'hi\n\n');
    assert.match(
      (await home.run(['run', 'try bash', '--yes', '--deny', 'bash'])).stdout,
      /denied by the rule/,
    );
  });

  it('a failed run exits 1 and says how to go on', async () => {
    const result = await home.run(['run', 'something else']);
    assert.equal(result.code, 1);
    assert.match(result.stderr, /^failed: bad_request: 400: not in the play$/m);
  });

  it('ps, send, logs -f and kill work from a second process while it runs; Ctrl-C loses nothing', async () => {
    const first = home.start(['run', 'hold on', '--name', 'holder']);
    const waiting = async () => {
      for (let tries = 0; tries < 100; tries += 1) {
        const { stdout } = await home.run(['ps']);
        if (/holder +◔ waiting/.test(stdout)) return;
      }
      throw new Error('it never waited');
    };
    await waiting();
    const follow = home.start(['logs', 'holder', '-f']);
    first.child.kill('SIGINT');
    const stopped = await first.ended;
    assert.equal(stopped.code, 130);
    assert.match(stopped.stderr, /nothing is lost, continue with: coppice resume/);
    const second = home.start(['resume', 'holder']);
    // The state alone is not enough: it is the same before the agent is led again.
    const store = await openStore(home.database);
    for (let tries = 0; tries < 6_000 && (await store.find('holder'))[0]?.worker == null; tries += 1)
      await sleep(10);
    await store.close();
    assert.match((await home.run(['send', 'holder', 'the word'])).stdout, /^sent to holder/);
    const result = await second.ended;
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, /got .*"message":"the word"/);
    assert.match((await home.run(['kill', 'holder', '--yes'])).stdout, /killed holder/);
    const followed = await follow.ended;
    assert.match(followed.stdout, /wait ok: .*the word/);
    assert.match((await home.run(['logs', 'holder'])).stdout, /kill event: holder by you, 1 descendant/);
  });

  it('a kill from a second process ends the run', async () => {
    const run = home.start(['run', 'hold on', '--name', 'victim']);
    for (let tries = 0; tries < 100; tries += 1) if (/victim +◔/.test((await home.run(['ps'])).stdout)) break;
    await home.run(['kill', 'victim', '--yes']);
    const result = await run.ended;
    assert.equal(result.code, 1);
    assert.match(result.stderr, /killed by you/);
  });

  it('--timeout exits 124 and keeps the run for later', async () => {
    const result = await home.run(['run', 'hold on', '--name', 'patient', '--timeout', '0.5']);
    assert.equal(result.code, 124);
    assert.equal((await home.run(['wait', 'patient', '--timeout', '0.2'])).code, 5);
    await home.run(['kill', 'patient', '--yes']);
  });

  it('a run that is stopped while only a child works prints the reply of its root', async () => {
    const rules = [
      {
        when: { root: true, step: 0 },
        calls: [{ name: 'fork', input: { name: 'slow', prompt: 'be slow' } }],
      },
      { when: { root: true }, say: 'It is begun.' },
      { delay_ms: 600_000, say: 'Never.' },
    ];
    writeFileSync(join(home.work, 'stopped.json'), JSON.stringify({ rules }));
    const model = ['--model', 'scripted:stopped.json'];
    const stopped = await home.run(['run', 'x', '--name', 'begun', ...model, '--timeout', '3', '--json']);
    assert.equal(stopped.code, 124);
    const { status, reply } = JSON.parse(stopped.stdout);
    assert.deepEqual([status, reply], ['stopped', 'It is begun.']);
    await home.run(['kill', 'begun', '--yes']);
  });

  it('--events prints every event as a line of JSON', async () => {
    const result = await home.run(['run', 'say hello', '--events']);
    const lines = result.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.ok(lines.some((line) => line.type === 'message' && line.message.kind === 'assistant'));
    assert.equal(lines.at(-1).schema, 'coppice/run/v1');
  });

  it('colours follow --no-color, NO_COLOR, FORCE_COLOR, in this order', async () => {
    const coloured = async (args: string[], env: NodeJS.ProcessEnv) =>
      (await home.run(['ps', '--all', ...args], { env })).stdout.includes(ESCAPE);
    assert.deepEqual(
      [
        await coloured([], {}),
        await coloured([], { FORCE_COLOR: '1' }),
        await coloured([], { FORCE_COLOR: '1', NO_COLOR: '1' }),
        await coloured(['--no-color'], { FORCE_COLOR: '1' }),
      ],
      [false, true, false, false],
    );
  });
});
