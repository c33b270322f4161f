// Proves that the generated parts of the documents match the current program, and that links between documents are valid.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { markedBlocks } from '../../scripts/marked-blocks.ts';
import { ALL_GUARDS } from '../../scripts/mutants/guards/all-guards.ts';
import { GENERATED, GENERATED_FILES } from '../../scripts/references/generated.ts';
import { EXIT } from '../../src/cli/start/exit-code.ts';
import { DEFAULT_LIMITS, DEFAULT_SPENDING_LIMITS } from '../../src/records/agent/limits.ts';

const root = join(import.meta.dirname, '..', '..');
const text = (document: string) => readFileSync(join(root, document), 'utf8');
const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'AGENTS.md', 'CHANGELOG.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

describe('generated parts are current; npm run references writes them', () => {
  for (const [document, blocks] of Object.entries(GENERATED))
    it(document, () => {
      const there = markedBlocks(text(document));
      for (const [name, block] of Object.entries(blocks())) assert.equal(there.get(name), block, name);
    });
  for (const [file, content] of Object.entries(GENERATED_FILES))
    it(file, () => assert.equal(text(file), content()));
});

/** Returns the anchor that GitHub gives a heading. */
function anchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsOf(document: string): ReadonlySet<string> {
  return new Set([...text(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading)));
}

describe('links lead somewhere', () => {
  for (const document of DOCUMENTS)
    it(document, () => {
      const prose = text(document)
        .replaceAll(/^```[\s\S]*?^```/gm, '')
        .replaceAll(/`[^`\n]*`/g, '');
      const links = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)];
      for (const [, link = '', source = ''] of links) {
        const target = link || source;
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', hash] = target.split('#');
        const file = path === '' ? document : join(dirname(document), path);
        assert.ok(existsSync(join(root, file)), `${document}: ${target}`);
        if (hash !== undefined) assert.ok(anchorsOf(file).has(hash), `${document}: ${target}`);
      }
    });
});

it('docs/README.md names every page', () => {
  const index = text('docs/README.md');
  for (const name of readdirSync(join(root, 'docs')))
    if (name.endsWith('.md') && name !== 'README.md') assert.ok(index.includes(`](${name})`), name);
});

describe('files that documents name are there', () => {
  for (const document of DOCUMENTS.filter((name) => name !== 'CHANGELOG.md'))
    it(document, () => {
      for (const [, path = ''] of text(document).matchAll(
        /`((?:[\w.@-]+\/)+[\w.-]+\.(?:ts|sql|json|yaml|service))`/g,
      )) {
        // Created by `npm run build`.
        if (path.startsWith('dist/')) continue;
        const found = ['', 'src', 'docs'].some((folder) => existsSync(join(root, folder, path)));
        assert.ok(found, `${document}: ${path}`);
      }
    });
});

describe('docs/where-to-change.md', () => {
  const rows = [...text('docs/where-to-change.md').matchAll(/^\| (.+?) \| (`src\/.+?) \| `(.+)` \|$/gm)];
  it('answers at least twenty questions', () => assert.ok(rows.length >= 20, String(rows.length)));
  for (const [, question = '', files = '', mark = ''] of rows)
    it(question, () => {
      for (const file of files.split(', ')) assert.ok(text(file.replaceAll('`', '')).includes(mark), file);
    });
});

describe('docs/incidents.md', () => {
  const guards = new Set(ALL_GUARDS.map(({ name }) => name));
  const rows = [...text('docs/incidents.md').matchAll(/^\| (CVE-[\d-]+) .*\| `(test\/.+?)` \| (.+) \|$/gm)];
  it('lists incidents', () => assert.ok(rows.length >= 6, String(rows.length)));
  for (const [, incident = '', file = '', names = ''] of rows)
    it(`${incident} has a test that names it, and guards that can be taken out`, () => {
      assert.match(text(file), new RegExp(`(?:it|test)\\('[^']*${incident}`));
      for (const [, name = ''] of names.matchAll(/`([\w-]+)`/g)) assert.ok(guards.has(name), name);
    });
});

describe('SECURITY.md', () => {
  const promised = text('SECURITY.md').split('## What is promised')[1]?.split('\n## ')[0] ?? '';
  const rows = promised.split('\n').filter((line) => /^\| (?!promise|---)/.test(line));
  it('promises much', () => assert.ok(rows.length >= 50, String(rows.length)));
  for (const row of rows)
    it(`has a test for: ${row.split(' | ')[0]?.slice(2)}`, () => {
      const [, file = '', title = ''] = /^\| .+ \| `(test\/\S+)` \| (.+) \|$/.exec(row) ?? [];
      // Titles are compared by their literal text, since a title may also name each case.
      const titles = [...text(file).matchAll(/\b(?:it|test|describe)\(\s*(['"`])(.+?)\1,/g)].map(
        ([, , one]) => one,
      );
      assert.ok(
        titles.some((one) => one?.includes(title)),
        `${file} has no test "${title}"`,
      );
    });
});

describe('docs/library.md', () => {
  const page = text('docs/library.md');
  /** Names in the first column of the tables. */
  const told = new Set(
    [...page.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name),
    ),
  );
  const namesIn = (source: string, from: RegExp, of: RegExp) =>
    [...(from.exec(text(source))?.[0] ?? '').matchAll(of)].map(([, name = '']) => name);
  const SOURCES = {
    'options of openCoppice': namesIn(
      'src/library/coppice-options.ts',
      /export interface CoppiceOptions[\s\S]*?\n}/,
      /readonly (\w+)\??:/g,
    ),
    'options of start': namesIn(
      'src/library/coppice-options.ts',
      /export interface AgentOptions[\s\S]*?\n}/,
      /readonly (\w+)\??:/g,
    ),
    'methods of a coppice': namesIn(
      'src/library/engine.ts',
      /export interface Engine<Options> {[\s\S]*?\n}/,
      /^ {2}(\w+)\(/gm,
    ),
    'methods of an agent': namesIn(
      'src/library/engine.ts',
      /export interface RunningAgent {[\s\S]*?\n}/,
      /^ {2}(\w+)\(/gm,
    ),
    'options of workflow': namesIn(
      'src/library/workflows.ts',
      /export interface WorkflowOptions[\s\S]*?\n}/,
      /^ {2}readonly (\w+)\??:/gm,
    ),
    'methods of a workflow': namesIn(
      'src/library/workflows.ts',
      /export interface RunningWorkflow[\s\S]*?\n}/,
      /^ {2}(\w+)\(/gm,
    ),
    events: namesIn(
      'src/runtime/runtime-event.ts',
      /export type RuntimeEvent[\s\S]*/,
      /readonly type: '(\w+)'/g,
    ),
  };
  for (const [what, names] of Object.entries(SOURCES))
    it(`tells of all ${what}`, () => {
      assert.ok(names.length > 1, String(names));
      for (const name of names) assert.ok(told.has(name), name);
    });
});

describe('tables that are written by hand have what the sources have', () => {
  const quoted = (source: string, from: RegExp) =>
    [...(from.exec(text(source))?.[0] ?? '').matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
  const json = text('docs/json.md');
  const commands = text('docs/command-line.md');

  it('kinds of failure and codes of the ledger, in docs/json.md', () => {
    const kinds = quoted('src/records/agent/failure.ts', /export type FailureKind =[\s\S]*?;/);
    const codes = quoted('src/store/store-error.ts', /export type StoreErrorCode =[\s\S]*?;/);
    assert.ok(kinds.length > 15 && codes.length > 7, `${kinds} ${codes}`);
    for (const name of [...kinds, ...codes]) assert.ok(json.includes(`\`${name}\``), name);
  });

  it('exit codes, in docs/command-line.md', () => {
    for (const code of Object.values(EXIT))
      assert.match(commands, new RegExp(`^\\| (?:\\d+, )*${code}(?:, \\d+)* \\|`, 'm'));
  });

  it('limits and their defaults, in docs/command-line.md', () => {
    const {
      run_ms,
      tokens,
      cost_usd,
      usual: _,
      ...counts
    } = { ...DEFAULT_LIMITS, ...DEFAULT_SPENDING_LIMITS };
    const rows = {
      ...counts,
      run: `${run_ms / 60_000} minutes`,
      tokens: `${tokens / 1_000_000} million`,
      cost: cost_usd,
    };
    for (const [name, value] of Object.entries(rows))
      assert.match(commands, new RegExp(`^\\| \`${name}\` \\| .* \\| ${value} \\|$`, 'm'));
  });
});

it('documents that are not in the repository are cited nowhere', () => {
  // 'SAFETY' in quotes or parentheses is a term of Google's protocol.
  const cited =
    /(?<!')\b(?:SAFETY|EDGE-CASES|DESIGN)\b(?!\))|\b(?:UX|STYLE)\.md|(?:\(|\b(?:as|by|from|of|under) )seeds? [1-5]\b/;
  const folders = ['src', 'test', 'docs', 'scripts', 'bench', 'examples', 'deploy'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:md|ts|ya?ml|service)$/.test(name))
      .map((name) => join(folder, name))
      .filter((file) => join(root, file) !== import.meta.filename),
  );
  assert.ok(files.length > 100, String(files.length));
  for (const file of [...DOCUMENTS, ...files]) assert.equal(cited.exec(text(file))?.[0], undefined, file);
});
