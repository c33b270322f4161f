// Proves that the OpenAPI document is of use to strangers: a real server gives it without a token, redocly's recommended rules find nothing wrong with it, and types that are made from it compile and say what the answers say.
// Own process: `openapi-typescript` needs the API of the compiler up to TypeScript 6, so its import of `typescript` is redirected here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { setWebStage, type WebStage } from './web-stage.ts';

registerHooks({
  resolve: (name, context, next) =>
    next(name === 'typescript' ? '@ts-morph/common/dist/typescript.js' : name, context),
});

let web: WebStage;
let text: string;
before(async () => {
  web = await setWebStage(() => 'done');
  text = (await web.ask('/v1/openapi.json', { token: null })).text;
});
after(() => web.close());

it('redocly finds no problem, with its recommended rules', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const lint = (source: string) => lintFromString({ source, absoluteRef: 'openapi.json', config });
  const problems = await lint(text);
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    [],
  );
  const broken = await lint(text.replaceAll('/schemas/agent"', '/schemas/agentt"'));
  assert.ok(broken.some(({ ruleId }) => ruleId === 'no-unresolved-refs'));
});

it('openapi-typescript makes types of it, which compile', async () => {
  const { default: typesOf, astToString } = await import('openapi-typescript');
  const use = `
    type Json<R> = R extends { content: { 'application/json': infer J } } ? J : never;
    type Answer<P extends keyof paths> = paths[P] extends { get: { responses: { 200: infer R } } } ? Json<R> : never;
    declare const trees: Answer<'/v1/trees'>;
    declare const tree: Answer<'/v1/trees/{tree}'>;
    declare const refusal: Json<components['responses']['409']>;
    export const texts: string[] = [trees.trees[0]!.root_id, tree.agents[0]!.name, refusal.error.code];
    // @ts-expect-error: there is no such field
    trees.trees[0]!.nonsense;
    // @ts-expect-error: a prompt is needed
    export const body: Json<NonNullable<paths['/v1/trees']['post']['requestBody']>> = {};`;
  const file = join(web.folder, 'api.ts');
  writeFileSync(file, astToString(await typesOf(text)) + use);
  const tsc = fileURLToPath(import.meta.resolve('../../../node_modules/.bin/tsc'));
  const { stdout } = spawnSync(tsc, ['--noEmit', '--strict', '--types', '', '--ignoreConfig', file], {
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
});

it('names its server, the statuses of refusals, and the token', () => {
  const document = JSON.parse(text);
  assert.deepEqual(document.servers, [{ url: web.url }]);
  for (const operations of Object.values<Record<string, { responses: object }>>(document.paths))
    for (const { responses } of Object.values(operations))
      for (const status of [400, 401, 403, 429, 500, 503]) assert.ok(status in responses, `${status}`);
  assert.equal(document.components.securitySchemes.token.scheme, 'bearer');
});
