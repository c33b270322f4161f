/**
 * Proves that the typed client (`openClient`) and the OpenAPI document of a real server are one: each operation is a method of that name, on that path, and what a
 * method takes and answers with has the types that `openapi-typescript` makes of the document.
 * Own process: `openapi-typescript` needs the API of the compiler up to TypeScript 6, so its import of `typescript` is redirected here.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CALLS } from '../../../src/serve/client/client.ts';
import { setWebStage, type WebStage } from './web-stage.ts';

registerHooks({
  resolve: (name, context, next) =>
    next(name === 'typescript' ? '@ts-morph/common/dist/typescript.js' : name, context),
});

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}
/** Not methods: a stream, which `events()` reads, a file that a browser saves, and the door of other services' webhooks. */
const OTHERS = ['events', 'exportTree', 'hooks'];

let web: WebStage;
let text: string;
before(async () => {
  web = await setWebStage(() => 'done');
  text = (await web.ask('/v1/openapi.json', { token: null })).text;
});
after(() => web.close());

function operations(): Map<string, string> {
  const { paths } = JSON.parse(text) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, parameters }]) => {
        const inPath = parameters.flatMap((one) => (one.in === 'path' ? [`{${one.name}}`] : []));
        assert.deepEqual([...path.matchAll(/\{\w+\}/g)].map(String), inPath, path);
        return [operationId, `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`] as const;
      }),
    ),
  );
}

it('each operation of the document is a method of the client, and each method an operation', () => {
  const found = operations();
  assert.deepEqual([...found.keys()].filter((name) => !(name in CALLS)).sort(), OTHERS);
  for (const [name, { route }] of Object.entries(CALLS)) assert.equal(found.get(name), route, name);
});

it('what a method takes and answers with has the types of the document', async () => {
  const { default: typesOf, astToString } = await import('openapi-typescript');
  const client = join(import.meta.dirname, '..', '..', '..', 'src', 'serve', 'client', 'client.ts');
  const names = Object.keys(CALLS);
  const checks = names.map(
    (name) => `
      export const answer_${name}: Plain<Ours<'${name}'>> = null! as Answer<'${name}'>;
      export const given_${name}: Answer<'${name}'> = null! as Plain<Ours<'${name}'>>;
      export const input_${name}: Required<Taken<'${name}'>> = null! as Required<Plain<Input<'${name}'>>>;`,
  );
  const use = `
    import type { CoppiceClient } from '${client}';
    type Plain<T> = T extends object ? { -readonly [Key in keyof T]: Plain<T[Key]> } : T;
    type Json<R> = R extends { content: { 'application/json': infer J } } ? J : never;
    type Answer<N extends keyof operations> = operations[N] extends { responses: { 200: infer R } } ? Json<R> : never;
    type Ours<N extends keyof CoppiceClient> = CoppiceClient[N] extends (...given: never[]) => Promise<infer R> ? R : never;
    type Body<N extends keyof operations> = operations[N] extends { requestBody: infer B } ? Json<B> : unknown;
    type Query<N extends keyof operations> = operations[N] extends { parameters: { query?: infer Q } } ? ([NonNullable<Q>] extends [never] ? unknown : NonNullable<Q>) : unknown;
    type Taken<N extends keyof operations> = Body<N> extends object ? Body<N> : Named<Query<N>>;
    // Texts in an address, which the client makes of numbers and booleans: only their names are compared.
    type Named<T> = { [Key in keyof T]?: unknown };
    type Input<N extends keyof CoppiceClient> = Required<CoppiceClient[N] extends (...given: infer G) => unknown ? G : never> extends [...string[], infer I, unknown] ? I : never;
    // @ts-expect-error: they differ
    export const wrong: Answer<'trees'> = null! as Plain<Ours<'tree'>>;
    ${checks.join('')}`;
  const file = join(web.folder, 'compared.ts');
  writeFileSync(file, astToString(await typesOf(text)) + use);
  const tsc = fileURLToPath(import.meta.resolve('../../../node_modules/.bin/tsc'));
  const flags = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
    '--allowImportingTsExtensions',
    '--module',
    'nodenext',
    '--target',
    'esnext',
  ];
  const { stdout } = spawnSync(tsc, [...flags, file], { encoding: 'utf8' });
  // The sources that it imports are checked by their own configuration.
  assert.deepEqual(
    stdout.split('\n').filter((line) => line.includes('compared.ts')),
    [],
  );
});
