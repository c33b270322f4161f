/**
 * Proves that every TypeScript snippet of the pages about the library, and of the first page, runs as it stands there: the model that it names is scripted, a
 * server that it asks is a real one, and a snippet that goes on with an earlier one gets what that one has.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { closeLater, closeOpened } from '../close-opened.ts';
import { setWebStage } from '../serve/http/web-stage.ts';
import { temporaryFolder } from '../temporary-folder.ts';

after(closeOpened);

const run = promisify(execFile);
const HOOKS = join(import.meta.dirname, 'snippet-hooks.ts');
const OPENED = "await openCoppice({ database: 'sqlite:work.db', model: 'anthropic/claude-sonnet-4-5' });";

/** What a snippet uses and does not define, in this order. */
const BEFORE: readonly (readonly [name: string, text: string])[] = [
  ['openCoppice', "import { openCoppice } from 'coppice';"],
  ['coppice', `const coppice = ${OPENED}`],
  ['review', "import * as z from 'zod';\nconst review = z.object({ score: z.number() });"],
  ['agent', "const agent = await coppice.start({ prompt: 'begin' });\nawait agent.result();"],
  ['token', "const token = process.env.SNIPPET_TOKEN ?? '';"],
];

function whole(snippet: string): string {
  const wanted = new Set<string>();
  const uses = (name: string) => new RegExp(`(?<![\\w.'/])${name}\\b(?!['\\w]|: )`).test(snippet);
  const defines = (name: string) =>
    new RegExp(
      `(?:const|let) (?:\\{[^}]*\\b)?${name}\\b|import \\{[^}]*\\b${name}\\b|\\{ ${name}(?:,| \\}\\) =>)`,
    ).test(snippet);
  for (const [name] of BEFORE) if (uses(name) && !defines(name)) wanted.add(name);
  if (wanted.has('agent')) wanted.add('coppice');
  if (wanted.has('coppice') && !defines('openCoppice')) wanted.add('openCoppice');
  const before = BEFORE.filter(([name]) => wanted.has(name)).map(([, text]) => text);
  return [...before, snippet, 'process.exit(0);'].join('\n');
}

for (const page of ['library.md', 'testing-agents.md', 'first-ten-minutes.md'])
  describe(`the snippets of docs/${page}`, () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8');
    const snippets = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, snippet = '']) => snippet);

    it('are found', () =>
      assert.ok(snippets.length >= (page === 'library.md' ? 9 : 1), `${snippets.length}`));

    for (const [at, snippet] of snippets.entries())
      it(`${at + 1}: ${snippet
        .split('\n')
        .find((line) => /await|registry\./.test(line))
        ?.trim()}`, async () => {
        const folder = temporaryFolder();
        const env: NodeJS.ProcessEnv = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
        if (snippet.includes('openClient')) {
          const web = await setWebStage(({ user }) => `answer to ${user}`);
          closeLater(() => web.close());
          Object.assign(env, { SNIPPET_URL: web.url, SNIPPET_TOKEN: web.token('write') });
        }
        const file = join(folder, 'snippet.mts');
        writeFileSync(file, whole(snippet));
        const ran = await run(process.execPath, [`--import=${HOOKS}`, file], {
          cwd: folder,
          env,
          timeout: 60_000,
        });
        assert.doesNotMatch(ran.stderr, /Warning/);
      });
  });
