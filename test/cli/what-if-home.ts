import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { openStore } from '../../src/store/open-store.ts';
import { runGit } from '../runtime/worktree/git-repository.ts';
import { type Home, makeHome } from './run-cli.ts';

type WhatIf = DocumentOf<'coppice/what-if/v1'>;

/** A repository in which a tree of five agents has done its work: `new.js` says how it went, and is not committed. */
export interface WhatIfHome extends Home {
  /** The root of the tree. */
  readonly tree: string;
  /** Message of the root that writes the file; its result is the next one. */
  readonly at: number;
  /** Appended to by the commands of all continuations. */
  readonly log: string;
  what_if(...args: readonly string[]): Promise<WhatIf>;
}

/** Rules of a model that writes a program which ends with this code. */
function rulesOf(name: string, code: number, log: string): object {
  const wait = { timeout: 60, from_agents: '{{results.fork.*.agent_id}}' };
  return {
    rules: [
      {
        when: { agent: 'judge' },
        calls: [
          { name: 'submit_result', input: { result: { best: 'scripted:../b.json', why: 'I like it' } } },
        ],
      },
      { when: { root: true, user: 'limit' }, calls: [{ name: 'bash', input: { command: 'true' } }] },
      { when: { root: true, user: 'again' }, say: `Again by ${name}.` },
      {
        when: { root: true, step: 0 },
        calls: [{ name: 'fork', input: { name: 'h{{index}}', prompt: 'look' }, repeat: 4 }],
      },
      { when: { root: true, step: 1 }, calls: [{ name: 'wait', input: wait }] },
      {
        when: { root: true, tool: 'wait' },
        calls: [{ name: 'write', input: { path: 'new.js', content: `process.exit(${code});\n` } }],
      },
      {
        when: { root: true, tool: 'write' },
        delay_ms: 150,
        calls: [{ name: 'bash', input: { command: `echo ${name} >> ${log}` } }],
      },
      { when: { root: true }, say: `Done by ${name}.` },
      { when: { step: 0 }, calls: [{ name: 'send', input: { to: '{{parent_id}}', message: 'I looked.' } }] },
      { say: 'ok' },
    ],
  };
}

/** The tree is led by model `a`, whose program ends with 0; that of `b` ends with 3. */
export async function whatIfHome(database?: string): Promise<WhatIfHome> {
  const home = makeHome();
  const log = join(home.folder, 'log');
  for (const [name, code] of [
    ['a', 0],
    ['b', 3],
  ] as const)
    writeFileSync(join(home.folder, `${name}.json`), JSON.stringify(rulesOf(name, code, log)));
  await runGit(home.work, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(home.work, 'old.js'), '');
  await runGit(home.work, 'add', '.');
  await runGit(home.work, 'commit', '--quiet', '--message', 'first', '--date', '2026-01-01T00:00:00Z');
  const more = database === undefined ? [] : ['--database', database];
  const { code, stderr } = await home.run([
    'run',
    'do it',
    '--model',
    'scripted:../a.json',
    '--yes',
    ...more,
  ]);
  if (code !== 0) throw new Error(stderr);
  const store = await openStore(database ?? home.database);
  const [root] = await store.agents({ conversations: true });
  const written = (await store.history(root?.id ?? '')).find(
    ({ kind, content }) =>
      kind === 'assistant' && content.parts.some((part) => part.type === 'call' && part.name === 'write'),
  );
  await store.close();
  rmSync(log);
  return {
    ...{ ...home, log, tree: root?.id ?? '', at: written?.seq ?? 0 },
    async what_if(...args) {
      const { stdout, stderr: told } = await home.run([
        'what-if',
        root?.id ?? '',
        ...args,
        '--json',
        ...more,
      ]);
      if (stdout === '') throw new Error(told);
      return JSON.parse(stdout);
    },
  };
}
