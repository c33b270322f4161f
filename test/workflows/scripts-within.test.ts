/**
 * Proves that consent to a script covers the workflows that it runs in turn: they are found, shown, hashed and kept with it; one that nobody saw, that is outside of
 * the folder or that a rule denies does not run; and those named by their paths are trusted with the script that names them.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { loadScript, nestedScript, trustHash } from '../../src/models/workflow/saved-scripts.ts';
import { namesWithin, wholeScript } from '../../src/models/workflow/scripts-within.ts';
import type { WorkflowHost } from '../../src/models/workflow-host.ts';
import { scriptHash } from '../../src/permissions/tool-permission.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import { resolveNeed } from '../../src/runtime/performing/resolve-need.ts';
import { rerunWorkflow } from '../../src/trees/workflow/rerun-run.ts';
import { consentLines } from '../../src/trees/workflow/workflow-consent.ts';
import { CONFIG } from '../store/ledger-fixture.ts';
import { META } from './played-script.ts';

const named = (name: string, body: string) => META.replace("'test'", `'${name}'`) + body;

let folder: string;
let home: string;
const accepted = new Set<string>();
const trust = () => ({
  home,
  accepts: (path: string, hash: string) => accepted.has(`${path} ${hash}`),
  accept: (path: string, hash: string) => void accepted.add(`${path} ${hash}`),
});

function write(path: string, name: string, body: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, named(name, body));
  return file;
}

const wantedBy = (body: string) => {
  write('outer.js', 'outer', body);
  return loadScript('./outer.js', folder, trust());
};

/** What the runtime answers when a script with these terms runs another workflow. */
async function runs(
  name: string,
  {
    allow = [] as string[],
    deny = [] as string[],
    ...workflow
  }: Partial<NonNullable<Agent['config']['workflow']>> & { allow?: string[]; deny?: string[] } = {},
) {
  const config: Agent['config'] = {
    ...CONFIG,
    cwd: folder,
    permissions: { ...CONFIG.permissions, cli: { allow, ask: [], deny } },
    workflow: { name: 'outer', description: '', script: '', seed: '', started_at: 0, calls: 9, ...workflow },
  };
  const load: WorkflowHost['load'] = async (...given) => nestedScript(...given, trust());
  const context = {
    workflows: { load } as WorkflowHost,
    openModel: () => Promise.reject(new Error('none')),
    earlier: () => Promise.reject(new Error('none')),
    spill_dir: join(home, 'output'),
  };
  return resolveNeed({ config, root_id: 'r' } as Agent, { type: 'workflow', base: folder, name }, context);
}

const errorOf = (answer: Awaited<ReturnType<typeof runs>>) =>
  answer.ok ? `ran ${answer.text}` : answer.error;

describe('workflows within a script', () => {
  beforeEach(() => {
    const base = mkdtempSync(join(tmpdir(), 'within-'));
    folder = join(base, 'work');
    home = join(base, 'home');
    mkdirSync(folder);
    mkdirSync(home);
    accepted.clear();
  });
  afterEach(() => rmSync(dirname(folder), { recursive: true, force: true }));

  it('are those that it names as texts; where it names one by anything else, every text in it', () => {
    assert.deepEqual(
      namesWithin(`await workflow('a', 1); workflow ({ scriptPath: "./b.js" }); workflow(\`c\`); agent('d')`),
      ['a', './b.js', 'c'],
    );
    assert.deepEqual(namesWithin(`for (const one of ['a', "b"]) await workflow(one)`), ['a', 'b']);
    assert.deepEqual(namesWithin(`const run = workflow; run(args ? './a.js' : 'b')`), ['./a.js', 'b']);
    assert.deepEqual(namesWithin(`agent('audit'); log('./x.js')`), []);
  });

  it('are shown with it, line by line, and change what is allowed when they change', async () => {
    write('in.js', 'inner', "await agent('look');\nreturn 1;");
    const before = wantedBy("return [await workflow('./in.js'), await workflow('nowhere')]");
    assert.deepEqual(
      before.within.map(({ wanted, name }) => [wanted, name]),
      [['./in.js', 'inner']],
    );
    const text = wholeScript(before.source, before.within);
    assert.ok(text.includes('// ./in.js, which it may run:\nexport const meta'), text);
    assert.ok(text.includes("await agent('look');\nreturn 1;"), text);
    const told = await consentLines({ pastAgents: async () => [] }, before, undefined, CONFIG, []);
    assert.ok(told.includes('may run ./in.js, 3 lines: inner, a test'), told.join('\n'));
    write('in.js', 'inner', "await agent('other');\nreturn 1;");
    assert.notEqual(loadScript('./outer.js', folder, trust()).hash, before.hash);
    assert.equal(
      wantedBy('return 1').hash,
      scriptHash(named('outer', 'return 1')),
      'without any it is that of the script',
    );
  });

  it('are counted with it, as often as it runs them; of what nobody can know before, the estimate says so', async () => {
    const told = async (body: string) =>
      (await consentLines({ pastAgents: async () => [] }, wantedBy(body), undefined, CONFIG, [])).join('\n');
    const agents =
      "await parallel(Array.from({ length: args?.n ?? 3 }, () => () => agent('look', { phase: 'Look' })));";
    write('in.js', 'inner', `${agents} await agent('sum', { agentType: 'judge' }); return { n: 2 };`);
    const both = await told(
      "phase('All'); const { n } = await workflow('./in.js'); await workflow('./in.js', { n }); await workflow('./in.js'); await agent('end')",
    );
    assert.match(both, /All: 4\n {2}Look: 8\n|Look: 8\n {2}All: 4\n/);
    assert.match(both, /starts 12 agents; no history for .*; no history for profile judge .*; 7 deep\n/);
    assert.doesNotMatch(both, /not all counted/);
    const unknown = await told("await agent('x'); const name = ['a', 'b'].join(''); return workflow(name)");
    assert.match(unknown, /starts at least 1 agent; .*; 2 deep\nnot all counted: the agents of ab$/);
    write('in.js', 'inner', 'const broken = ;');
    const broken = await told("await agent('x'); return workflow('./in.js')");
    assert.match(
      broken,
      /starts 1 agent; .*\nwith invented results it fails: .*\.\/in\.js: line 2 of the workflow/,
    );
    assert.match(broken, /note: \.\/in\.js: line 2 of the workflow script/);
    write('in.js', 'inner', 'for (;;) await sleep(1)');
    assert.match(await told("return workflow('./in.js')"), /not all counted: the agents of \.\/in\.js$/m);
    write('in.js', 'inner', "return workflow('./in.js')");
    assert.match(await told("return workflow('./in.js')"), /note: \.\/in\.js: .*starts no other/);
  });

  it('run as they were seen, whatever has become of their files', async () => {
    const file = write('in.js', 'inner', 'return "seen"');
    const { within } = wantedBy("return workflow('./in.js')");
    write('in.js', 'inner', 'return "edited"');
    assert.match(errorOf(await runs('./in.js', { within })), /^ran .*seen/);
    renameSync(file, join(folder, 'gone.js'));
    assert.match(errorOf(await runs('./in.js', { within })), /^ran .*seen/);
    const run = {
      id: 'r',
      root_id: 'r',
      name: 'outer',
      state: { type: 'completed', result: '' },
      config: {
        ...CONFIG,
        workflow: { name: 'outer', description: '', script: 's', within, seed: '', started_at: 0, calls: 9 },
      },
    };
    const store = {
      find: async () => [run],
      agents: async () => [run],
      tree: async () => null,
      history: async () => [],
    };
    const again = await rerunWorkflow(store as never, 'r', {});
    assert.deepEqual(again.config.workflow?.within, within, 'and when the run is run again');
  });

  it('that nobody saw need a rule of their own', async () => {
    write('in.js', 'inner', 'return 1');
    assert.match(errorOf(await runs('./in.js')), /nobody saw the workflow \.\/in\.js .* workflow:inner/);
    assert.match(errorOf(await runs('./in.js', { allow: ['workflow:outer'] })), /nobody saw/);
    assert.match(errorOf(await runs('./in.js', { allow: ['workflow:inner'] })), /^ran/);
    const { within } = wantedBy("return workflow('./in.js')");
    assert.match(
      errorOf(await runs('./IN.js', { within })),
      /no such file|nobody saw/,
      'another case is another name',
    );
    assert.match(errorOf(await runs('././in.js', { within })), /nobody saw/, 'another way to the file too');
    assert.match(
      errorOf(await runs('./in.js', { program: true })),
      /^ran/,
      "a program's function names what the program wants",
    );
  });

  it('that a rule denies do not run, whoever saw them', async () => {
    write('in.js', 'inner', 'return 1');
    const { within } = wantedBy("return workflow('./in.js')");
    assert.match(errorOf(await runs('./in.js', { within, deny: ['workflow:inner'] })), /denied by the rule/);
    assert.match(errorOf(await runs('./in.js', { within, deny: ['read:in.js'] })), /may not be read/);
    assert.match(errorOf(await runs('./in.js', { within, deny: ['read:IN.js'] })), /may not be read/);
  });

  it('are not read outside of the folder, by a path or a link', async () => {
    writeFileSync(join(home, 'secret.js'), named('secret', 'return 1'));
    symlinkSync(join(home, 'secret.js'), join(folder, 'link.js'));
    symlinkSync(home, join(folder, 'linked'));
    for (const path of [
      '../home/secret.js',
      join(home, 'secret.js'),
      './link.js',
      './linked/secret.js',
      './in/../../home/secret.js',
    ]) {
      assert.deepEqual(wantedBy(`return workflow('${path}')`).within, [], path);
      assert.match(errorOf(await runs(path, { allow: ['*'] })), /outside/, path);
    }
    const { within } = wantedBy("return workflow('./in.js')");
    assert.deepEqual(within, []);
    write('in.js', 'inner', 'return 1');
    const seen = wantedBy("return workflow('./in.js')").within;
    rmSync(join(folder, 'in.js'));
    symlinkSync(join(home, 'secret.js'), join(folder, 'in.js'));
    assert.match(
      errorOf(await runs('./in.js', { within: seen, allow: ['*'] })),
      /outside/,
      'a link in the place of the file',
    );
    for (const odd of ['fifo.js', '.', '', `${'x'.repeat(5_000)}.js`, 'nul\0.js'])
      assert.equal((await runs(odd, { allow: ['*'] })).ok, false, odd.slice(0, 20));
  });

  it('by their paths are trusted with the saved script that names them, by name by themselves', () => {
    const saved = '.coppice/workflows/outer.js';
    write('lib/in.js', 'inner', 'return 1');
    const path = write(saved, 'outer', "return [await workflow('./lib/in.js'), await workflow('other')]");
    const refused = () =>
      assert.throws(() => loadScript('outer', folder, trust()), /not trusted as it is now/);
    refused();
    const hash = () =>
      trustHash(named('outer', "return [await workflow('./lib/in.js'), await workflow('other')]"), folder);
    trust().accept(path, hash());
    assert.deepEqual(
      loadScript('outer', folder, trust()).within.map(({ wanted }) => wanted),
      ['./lib/in.js'],
    );
    const other = write('.coppice/workflows/other.js', 'other', 'return 2');
    assert.deepEqual(loadScript('outer', folder, trust()).within.length, 1, 'an untrusted one is left out');
    trust().accept(other, scriptHash(named('other', 'return 2')));
    assert.deepEqual(loadScript('outer', folder, trust()).within.length, 2);
    write('lib/in.js', 'inner', 'return "changed"');
    refused();
    trust().accept(path, hash());
    assert.equal(loadScript('outer', folder, trust()).within.length, 2);
  });
});

it('an error without a hint is told as it is', async () => {
  const earlier = () => Promise.reject(new CoppiceError('E_REFUSED', 'the earlier run is gone'));
  const need = { type: 'earlier', id: 'e', worktree: null } as never;
  assert.deepEqual(await resolveNeed({} as Agent, need, { earlier } as never), {
    ok: false,
    error: 'the earlier run is gone',
  });
});
