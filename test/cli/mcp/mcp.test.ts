/** Proves that people can add, list and test MCP servers, that those of a project are used only once its file is trusted, and that agents get their tools. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Home, makeHome } from '../run-cli.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'servers', 'mcp-server.ts');
const SERVER = [process.execPath, PROGRAM];

function rules(home: Home, ...calls: readonly object[]): string {
  const file = join(home.folder, 'rules.json');
  writeFileSync(file, JSON.stringify({ rules: [{ when: { step: 0 }, calls }, { say: '{{result}}' }] }));
  return `scripted:${file}`;
}

describe('coppice mcp', () => {
  it('adds a server, lists it, and says what it offers', async () => {
    const home = makeHome();
    assert.match((await home.run(['mcp', 'list'])).stdout, /no MCP servers; add one/);
    const added = await home.run(['mcp', 'add', 't', '--env', 'A=b', '--', ...SERVER, '{}']);
    assert.match(added.stderr, /^trying t in the sandbox: ('?)\/[^']+\1 .* '\{\}'\n$/);
    assert.match(added.stdout, /^added t to .*config\.json: 15 tools; see them: coppice mcp test t\n$/);
    assert.match((await home.run(['mcp', 'list'])).stdout, /^t +config +used +\/\S+/m);
    const tested = await home.run(['mcp', 'test']);
    assert.match(
      tested.stdout,
      /^ok +t: testing 1\.2\.3, MCP 2025-11-25, 15 tools, \d+ ms\n +t__echo {2}Says/,
    );
    assert.equal(tested.code, 0);
    const { stdout } = await home.run(['mcp', 'test', '--json']);
    const { ok, servers } = JSON.parse(stdout);
    assert.deepEqual([ok, servers[0].tools[0].name], [true, 't__echo']);
  });

  it('lists the tools that were set aside when a server was last started, without starting it', async () => {
    const home = makeHome();
    const good = { name: 'good', inputSchema: { type: 'object' } };
    const odd = { name: 'odd\u001b[31m', inputSchema: { type: 'string' } };
    const serve = (...tools: object[]) =>
      home.configure({
        mcp: {
          servers: {
            t: { command: SERVER[0], args: [PROGRAM, JSON.stringify({ tools })], env: { A: 'secret' } },
          },
        },
      });
    const listed = async () => {
      const { stdout } = await home.run(['mcp', 'list']);
      const { servers } = JSON.parse((await home.run(['mcp', 'list', '--json'])).stdout);
      return [/^the MCP server .*$/m.exec(stdout)?.[0], servers[0].set_aside];
    };
    const why = 'its input is not an object, but of type string';
    const told = `the MCP server t: a tool is set aside: odd (${why}), as of its last start`;
    serve(good, odd);
    assert.deepEqual(await listed(), [undefined, []]);
    await home.run(['mcp', 'test']);
    assert.deepEqual(await listed(), [told, [{ name: 'odd', why }]]);
    serve(good, {});
    assert.deepEqual(await listed(), [undefined, []]);
    const run = await home.run(['run', '--model', rules(home, { name: 't__good', input: {} }), 'go']);
    assert.match(run.stderr, /a tool is set aside: tool 2 \(it has no name\)/);
    assert.deepEqual((await listed())[1], [{ name: 'tool 2', why: 'it has no name' }]);
    const kept = readFileSync(join(home.folder, 'data', 'coppice', 'mcp-set-aside.json'), 'utf8');
    assert.ok(!kept.includes('secret') && !kept.includes('mcp-server.ts'), kept);
    writeFileSync(join(home.folder, 'data', 'coppice', 'mcp-set-aside.json'), '{"t": 7}');
    assert.deepEqual(await listed(), [undefined, []]);
  });

  it('says what is wrong with what is added, and with a server that cannot be used', async () => {
    const home = makeHome();
    for (const [args, error] of [
      [['mcp', 'add', 't'], /give a program after --, or --url/],
      [['mcp', 'add', 't', '--url', 'x'], /Invalid URL/],
      [['mcp', 'add', 'a__b', '--', 'x'], /must have letters, digits/],
      [['mcp', 'add', 't', '--env', 'A', '--', 'x'], /"A": write --env NAME=VALUE/],
      [['mcp', 'test', 'nobody'], /no MCP server that may be used is called "nobody"/],
    ] as const) {
      const { code, stderr } = await home.run([...args]);
      assert.match(stderr, error);
      assert.equal(code, 2, args.join(' '));
    }
    await home.run(['mcp', 'add', 't', '--untried', '--', ...SERVER, '{"broken":true}']);
    const { code, stdout } = await home.run(['mcp', 'test']);
    assert.match(
      stdout,
      /^failed +t: it ended with exit code 7; last output on stderr: no licence key found$/m,
    );
    assert.equal(code, 1);
    assert.match(
      (await home.run(['mcp', 'add', 't', '--', 'x'])).stderr,
      /there is an MCP server called t already/,
    );
    home.configure('{ "mcp": ');
    const broken = await home.run(['mcp', 'add', 'other', '--', 'x']);
    assert.match(broken.stderr, /config\.json.*JSON/);
    assert.equal(broken.code, 2);
  });

  it('tries a program before it adds it, and says with which options it may work', async () => {
    const home = makeHome();
    const script = (text: string) => ['--', process.execPath, '-e', text];
    for (const [command, offers] of [
      [
        script('console.error("getaddrinfo ENOTFOUND api.example.com"); process.exit(1)'),
        ['--host api.example.com'],
      ],
      [
        script('console.error("EROFS: mkdir \'" + require("os").homedir() + "/.tool/a\'"); process.exit(1)'),
        ['mkdir -p ~/.tool && ', '--writable ~/.tool'],
      ],
      [
        ['--env', 'KEY=secret', '--host', 'a.example', ...script('process.exit(1)')],
        ['--env KEY=… --host a.example --sandbox off'],
      ],
    ] as const) {
      const { code, stderr } = await home.run(['mcp', 'add', 't', ...command]);
      assert.equal(code, 1);
      assert.match(stderr, /^error: t was not added: it ended with exit code 1/m);
      for (const offer of offers) assert.ok(stderr.includes(offer), stderr);
      assert.ok(stderr.includes('--sandbox off -- ') && !stderr.includes('secret'), stderr);
    }
    const absent = await home.run(['mcp', 'add', 't', '--', 'no-such-program']);
    assert.match(
      absent.stderr,
      /was not added: it could not be started: there is no command "no-such-program"/,
    );
    assert.doesNotMatch(absent.stderr, /--sandbox off/);
    assert.match((await home.run(['mcp', 'list'])).stdout, /no MCP servers; add one/);
  });

  it('names the tools that are set aside', async () => {
    const home = makeHome();
    const tools = [
      { name: 'good', inputSchema: { type: 'object' } },
      { name: 'odd', inputSchema: { type: 'array' } },
      {},
    ];
    const server = [...SERVER, JSON.stringify({ tools })];
    assert.match((await home.run(['mcp', 'add', 't', '--', ...server])).stdout, /: 1 tools;/);
    assert.match(
      (await home.run(['mcp', 'test'])).stdout,
      / t__good .*\n +set aside odd: its input is not an object, but of type array\n +set aside tool 3: it has no name\n$/,
    );
    const run = await home.run([
      'run',
      '--yes',
      '--model',
      rules(home, { name: 't__good', input: {} }),
      'go',
    ]);
    assert.match(run.stdout, /^good \{\}/);
    assert.equal(
      run.stderr.match(
        /the MCP server t: 2 tools are set aside: odd \(its input is not an object.*\), tool 3 \(it has no name\)/g,
      )?.length,
      1,
      run.stderr,
    );
  });

  it('uses servers of a project once its file is trusted, as it is then', async () => {
    const home = makeHome();
    const file = join(home.work, '.mcp.json');
    const write = (more: object) =>
      writeFileSync(
        file,
        JSON.stringify({
          mcpServers: {
            'my server': {
              type: 'stdio',
              command: SERVER[0],
              args: [PROGRAM, '{}'],
              env: { LEVEL: ['$', '{LEVEL:-low}'].join('') },
            },
            ...more,
          },
        }),
      );
    write({ 'no command': { args: [] } });
    const model = rules(home, { name: 'my-server__environment', input: {} });
    const run = () => home.run(['run', '--model', model, '--allow', 'my-server__*', 'go']);
    const before = await run();
    assert.match(before.stderr, /ignored: \.mcp\.json \(not trusted\); look and accept: coppice trust/);
    assert.match(before.stdout, /there is no tool "my-server__environment"/);
    const listed = await home.run(['mcp', 'list']);
    assert.match(listed.stdout, /^my-server +\.mcp\.json +not trusted/m);
    assert.match(
      listed.stderr,
      /the server "no command" is ignored: command: must be given, or "url" instead/,
    );
    const shown = await home.run(['trust', '--yes']);
    assert.match(
      shown.stdout,
      /\.mcp\.json\n {2}servers +my-server: .*mcp-server\.ts \{\} \(LEVEL=\$\{LEVEL:-low\}\)/,
    );
    const after = await run();
    assert.match(after.stdout, /\bLEVEL\b/);
    assert.match((await home.run(['mcp', 'test', 'my-server'])).stdout, /^ok/);
    write({ other: { command: 'evil' } });
    assert.match((await run()).stdout, /there is no tool "my-server__environment"/);
    assert.match(
      (await home.run(['mcp', 'list'])).stdout,
      /other +\.mcp\.json +changed since you trusted it/,
    );
  });

  it('gives a profile the tools that it names', async () => {
    const home = makeHome();
    home.configure({
      mcp: { servers: { t: { command: SERVER[0], args: [PROGRAM, '{}'] } } },
      agents: {
        plain: { tools: ['read'] },
        some: { tools: ['t__e*'], deny_tools: ['t__environment'], permissions: { allow: ['t__*'] } },
      },
    });
    const call = (name: string) => rules(home, { name, input: { text: 'hi' } });
    const run = async (profile: string, name: string) =>
      (await home.run(['run', '--profile', profile, '--model', call(name), 'go'])).stdout;
    assert.equal(await run('some', 't__echo'), 'hi\n');
    assert.match(await run('some', 't__environment'), /there is no tool/);
    assert.match(await run('some', 't__pid'), /there is no tool/);
    assert.match(await run('plain', 't__echo'), /there is no tool/);
  });
});
