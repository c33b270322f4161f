/**
 * Proves that docs/configuration.md and the schema for editors have exactly the keys that the program has, that schema and program agree on which files
 * are valid, that `$schema` may be in it, and that every environment variable of the program is documented.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CONFIGURATION_KEYS } from '../../scripts/references/configuration-keys.ts';
import { configurationSchema, schemaKeys } from '../../scripts/references/configuration-schema.ts';
import { configuration } from '../../src/cli/setup/configuration.ts';
import { makeHome } from '../cli/run-cli.ts';

const root = join(import.meta.dirname, '..', '..');

it('every key has its meaning in scripts/references/configuration-keys.ts, and no other has', () => {
  const keys = schemaKeys(configurationSchema()).map(({ path }) => path);
  assert.deepEqual(keys.toSorted(), Object.keys(CONFIGURATION_KEYS).toSorted());
});

describe('the schema for editors and the program agree', () => {
  const schema = JSON.parse(readFileSync(join(root, 'docs/config.schema.json'), 'utf8'));
  const valid = new Ajv2020({ validateFormats: false }).compile(schema);
  const examples = readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => [
      ...readFileSync(join(root, 'docs', name), 'utf8').matchAll(/^```json\n([\s\S]*?)^```/gm),
    ])
    .map(([, text = '']) => JSON.parse(text) as Record<string, unknown>)
    .filter((value) => Object.keys(value).every((key) => key in (schema.properties as object)));

  it('on the examples of the documents', () => {
    assert.ok(examples.length >= 8, String(examples.length));
    for (const example of examples) {
      assert.ok(configuration.safeParse(example).success, JSON.stringify(example));
      assert.ok(valid(example), JSON.stringify([example, valid.errors]));
    }
  });

  const WRONG: readonly unknown[] = [
    { modle: 'x/y' },
    { model: 1 },
    { providers: { a: { type: 'anthropc' } } },
    { providers: { a: {} } },
    { acp: { 'a b': { command: 'x' } } },
    { agents: { defaults: { limits: { live: 0 } } } },
    { agents: { reviewer: { subagents: {} } } },
    { runs: { perSource: { person: 1 } } },
    { channels: { webhook: { ops: { url: 'https://a.example' } } } },
    { keys: { agents: 'f2' } },
  ];
  for (const wrong of WRONG)
    it(`on ${JSON.stringify(wrong)}`, () => {
      assert.equal(configuration.safeParse(wrong).success, false);
      assert.equal(valid(wrong), false);
    });
});

it('a configuration that names its schema is read', async () => {
  const home = makeHome();
  home.configure({
    $schema: join(root, 'docs/config.schema.json'),
    agents: { tidy: { description: 'Tidies.' } },
  });
  const { code, stdout } = await home.run(['profiles']);
  assert.equal(code, 0);
  assert.match(stdout, /tidy/);
});

it('docs/configuration.md tells of every environment variable that has our name', () => {
  const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const read = sources.flatMap((name) =>
    [
      ...readFileSync(join(root, 'src', name), 'utf8').matchAll(
        /\benv\.(COPPICE_\w+|DATABASE_URL|ACCESSIBLE)|'(\w+_(?:API_KEY|BASE_URL)|OLLAMA_HOST)'/g,
      ),
    ].map(([, ours, provider]) => ours ?? provider ?? ''),
  );
  assert.ok(read.includes('COPPICE_CONFIG') && read.includes('OPENAI_API_KEY'));
  for (const name of new Set(read)) assert.ok(page.includes(`\`${name}\``), name);
});
