// Proves which profiles exist and which take precedence: configuration, then the user's files, then trusted files of the folder, then the
// built-in ones; and that `coppice profiles` shows them, with untrusted ones marked.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { loadConfiguration } from '../../../src/cli/setup/load-configuration.ts';
import { type LoadedProfiles, loadProfiles } from '../../../src/cli/setup/profiles/profiles.ts';
import { Trust } from '../../../src/permissions/grants/trust.ts';
import type { Profile } from '../../../src/records/agent/profile.ts';
import { type Home, makeHome } from '../run-cli.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});

function put(folder: string, name: string, text: string): void {
  mkdirSync(join(home.folder, folder), { recursive: true });
  writeFileSync(join(home.folder, folder, name), text);
}

const USER = 'config/coppice/agents';
const FOLDER = 'work/.coppice/agents';
const dataFolder = (): string => join(home.folder, 'data', 'coppice');

async function load(config?: string): Promise<LoadedProfiles> {
  const loaded = await loadConfiguration(config, home.env);
  return loadProfiles({ options: { cwd: home.work }, env: home.env, loaded, data_folder: dataFolder() });
}

async function acceptFolder(): Promise<void> {
  new Trust(dataFolder()).accept(home.work, (await load()).project.hash, 0);
}

const brief = (profiles: LoadedProfiles['profiles']): string[] =>
  [...profiles.values()].map((profile) => `${profile.name}: ${profile.source}`).sort();

describe('profiles', () => {
  it('that are built in', async () => {
    const { profiles, notices, project } = await load();
    assert.deepEqual(notices, []);
    assert.equal(project.trust, 'nothing');
    assert.deepEqual(brief(profiles), ['explore: built in', 'work: built in']);
    const explore = profiles.get('explore') as Profile;
    assert.deepEqual(explore.tools, ['read', 'search', 'think', 'read_image', 'skill']);
    assert.deepEqual([explore.turns, explore.model, explore.toolsets], [20, null, null]);
    const { name, description, turns, source, ...rest } = profiles.get('work') as Profile;
    assert.deepEqual(rest, {
      model: null,
      thinking: null,
      toolsets: null,
      tools: null,
      deny_tools: [],
      system: null,
      instructions: true,
      skills: null,
      parameters: [],
      run_ms: null,
      permissions: { allow: [], ask: [], deny: [] },
      budget: null,
      require: [],
    });
    assert.equal(turns, 50);
  });

  it('of each place give way to the place before', async () => {
    for (const name of ['explore', 'a', 'b', 'c']) put(FOLDER, `${name}.md`, 'of the folder');
    for (const name of ['a', 'b']) put(USER, `${name}.md`, 'of the user');
    home.configure({ agents: { defaults: { thinking: 'low' }, a: { system: 'of the configuration' } } });
    assert.deepEqual(brief((await load()).profiles), [
      'a: config',
      'b: agents/b.md',
      'explore: built in',
      'work: built in',
    ]);
    await acceptFolder();
    const { profiles, notices, project } = await load();
    assert.deepEqual(brief(profiles), [
      'a: config',
      'b: agents/b.md',
      'c: .coppice/agents/c.md',
      'explore: .coppice/agents/explore.md',
      'work: built in',
    ]);
    assert.equal(profiles.get('a')?.system, 'of the configuration');
    assert.equal(profiles.get('a')?.thinking, null, 'defaults are of the root, not of profiles');
    assert.deepEqual([notices, project.trust], [[], 'trusted']);
  });

  it('of a folder that is not trusted are one notice, whatever is wrong in them', async () => {
    put(FOLDER, 'a.md', 'of the folder');
    put(FOLDER, 'wrong.md', '---\nturns: many\n---\n');
    put(FOLDER, 'huge.md', 'x'.repeat(70_000));
    const [notice, ...more] = (await load()).notices;
    assert.deepEqual(more, []);
    assert.match(notice ?? '', /^ignored: 2 agent files in \.coppice\/agents \(this folder is not trusted\)/);
    await acceptFolder();
    assert.equal((await load()).notices.length, 2);
    put(FOLDER, 'a.md', 'changed');
    assert.match((await load()).notices.join('\n'), /^ignored: 2 agent files .*\(changed since/);
    assert.equal((await load()).profiles.has('a'), false);
  });

  it('of the configuration carry all that it says', async () => {
    home.configure({
      agents: {
        full: {
          description: 'All.',
          model: 'ollama/x',
          thinking: 'high',
          toolsets: ['process'],
          tools: ['read'],
          deny_tools: ['bash'],
          system: 'You.',
          turns: 3,
          timeout_seconds: 2,
          limits: { turns: 9, run_ms: 9 },
          permissions: { allow: ['read'] },
          budget: { tokens: 9 },
        },
        bounded: { model: 'inherit', limits: { turns: 9, run_ms: 9 } },
      },
    });
    const { profiles } = await load();
    assert.deepEqual(profiles.get('full'), {
      name: 'full',
      description: 'All.',
      model: 'ollama/x',
      thinking: 'high',
      toolsets: ['process'],
      tools: ['read'],
      deny_tools: ['bash'],
      system: 'You.',
      instructions: true,
      skills: null,
      parameters: [],
      turns: 3,
      run_ms: 2000,
      permissions: { allow: ['read'], ask: [], deny: [] },
      budget: { tokens: 9 },
      require: [],
      source: 'config',
    } satisfies Profile);
    const bounded = profiles.get('bounded');
    assert.deepEqual([bounded?.model, bounded?.turns, bounded?.run_ms], [null, 9, 9]);
  });

  it('of a wrong configuration are an error that says where', async () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ 'Code Reviewer': {} }, /agents in .*config\.json: "Code Reviewer" is not a valid profile name/],
      [{ a: { permissions: { allow: ['bash:'] } } }, /agents\.a\.permissions\.allow in .*the pattern after/],
      [{ a: { turns: 0 } }, /agents\.a\.turns in/],
      [{ a: { require: ['bash:npm test exit x'] } }, /agents\.a\.require in .*an exit code is a number/],
      [{ a: { timeout_seconds: 1e9 } }, /agents\.a\.timeout_seconds in/],
      [{ a: { deny_tool: [] } }, /unknown key "agents\.a\.deny_tool"/],
      [{ defaults: { deny_tools: [] } }, /unknown key "agents\.defaults\.deny_tools"/],
    ];
    for (const [agents, message] of cases) {
      home.configure({ agents });
      await assert.rejects(load(), { code: 'E_CONFIG', message });
    }
  });

  it("of the user lie beside the user's configuration, unless that is in the folder itself", async () => {
    put(USER, 'usual.md', 'usual');
    put('named/agents', 'named.md', 'named');
    put('named', 'my.json', '{}');
    put('work/agents', 'brought.md', 'brought by the folder');
    put('work', 'ci.json', '{}');
    assert.equal((await load()).profiles.has('usual'), true);
    const named = (await load(join(home.folder, 'named', 'my.json'))).profiles;
    assert.deepEqual([named.has('named'), named.has('usual')], [true, false]);
    const inside = (await load(join(home.work, 'ci.json'))).profiles;
    assert.deepEqual([inside.has('brought'), inside.has('usual')], [false, true]);
  });
});

describe('coppice profiles', () => {
  it('lists what there is, what is not trusted marked, and what is wrong on stderr', async () => {
    home.configure({ agents: { mine: { description: 'Mine.', deny_tools: ['bash'], model: 'ollama/x' } } });
    put(FOLDER, 'theirs.md', '---\ndescription: "Their\\e[31ms"\ntoolsets: process\n---\n');
    put(FOLDER, 'wrong.md', '---\nturns: many\n---\n');
    const { code, stdout, stderr } = await home.run(['profiles']);
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 5);
    assert.match(lines[0] ?? '', /^NAME +SOURCE +MODEL +TOOLSETS +TOOLS +DESCRIPTION$/);
    assert.match(lines[1] ?? '', /^mine +config +ollama\/x +– +not bash +Mine\.$/);
    assert.match(
      lines[2] ?? '',
      /^explore +built in +– +– +read, search, think, read_image, skill +Only reads/,
    );
    assert.match(
      lines[4] ?? '',
      /^theirs +NOT TRUSTED \.coppice\/agents\/theirs\.md +– +process +– +Theirs$/,
    );
    assert.match(stderr, /^ignored: 2 agent files .*coppice trust$/m);
    assert.match(stderr, /^\.coppice\/agents\/wrong\.md is ignored: "turns"/m);
    assert.equal((await home.run(['trust', '--yes'])).code, 0);
    const after = await home.run(['profiles']);
    assert.match(after.stdout, /^theirs +\.coppice\/agents\/theirs\.md/m);
    assert.equal(after.stdout.includes('NOT TRUSTED'), false);
    assert.equal(after.stderr.includes('coppice trust'), false);
  });

  it('prints JSON', async () => {
    put(FOLDER, 'theirs.md', 'Be theirs.');
    const { schema, profiles, notices } = JSON.parse((await home.run(['profiles', '--json'])).stdout);
    assert.equal(schema, 'coppice/profiles/v1');
    assert.deepEqual(
      profiles.map((one: Profile & { trusted: boolean }) => [one.name, one.trusted]),
      [
        ['explore', true],
        ['work', true],
        ['theirs', false],
      ],
    );
    assert.deepEqual(
      Object.keys(profiles[2]).sort(),
      [...Object.keys((await load()).profiles.get('work') as Profile), 'trusted'].sort(),
    );
    assert.equal(notices.length, 1);
  });

  it('reads the example of the documentation', async () => {
    const docs = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'profiles.md'), 'utf8');
    const example = /```markdown\n([\s\S]*?)```/.exec(docs)?.[1];
    assert.ok(example !== undefined);
    put(USER, 'reviewer.md', example);
    const config = /```json\n([\s\S]*?)```/.exec(docs)?.[1];
    assert.ok(config !== undefined);
    home.configure(config);
    const { profiles, notices } = await load();
    assert.deepEqual(notices, []);
    assert.equal(profiles.get('reviewer')?.source, 'agents/reviewer.md');
    assert.equal([...profiles.values()].filter((one) => one.source === 'config').length, 1);
    rmSync(join(home.folder, dirname(USER)), { recursive: true });
  });
});

describe('the rules of a profile', () => {
  const bash = (command: string) => ({ name: 'bash', input: { command } });
  const RULES = {
    rules: [
      { when: { step: 0 }, calls: [bash('git --version'), bash('echo more')] },
      { say: '{{results.bash.0}} | {{results.bash.1}}' },
    ],
  };

  it('allow what they name and nothing else of the tool, once the folder is trusted; with --allow they narrow', async () => {
    writeFileSync(join(home.folder, 'rules.json'), JSON.stringify(RULES));
    put(FOLDER, 'reviewer.md', '---\npermissions: {allow: ["bash:git *"]}\n---\nYou review.');
    const run = (...args: string[]) =>
      home.run([
        'run',
        '--model',
        `scripted:${join(home.folder, 'rules.json')}`,
        '--profile',
        'reviewer',
        ...args,
        'go',
      ]);
    assert.match((await run()).stderr, /no profile called "reviewer"/);
    assert.equal((await home.run(['trust', '--yes'])).code, 0);
    for (const args of [[], ['--allow', 'bash'], ['--yes']]) {
      const { stdout, stderr } = await run(...args);
      assert.match(
        stdout,
        /git version .* \| .*bash needs approval .*Its profile would have to allow it/s,
        stderr,
      );
    }
    const denied = await run('--deny', 'bash:git *');
    assert.match(denied.stdout, /^bash was denied by the rule deny\(bash:git \*\)/);
  });
});
