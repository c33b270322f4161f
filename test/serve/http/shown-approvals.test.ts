// Proves over real HTTP what a script and the dashboard can rely on when they answer: an id is enough and stands for what was listed, `shown` is checked, a
// row that was changed in the ledger is refused, and the whole call can be read.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { until } from '../../until.ts';
import { setWebStage } from './web-stage.ts';

const NONE = { allow: [], ask: [], deny: [] };

it('an answer over HTTP reaches only what was shown', async () => {
  const filler = '; '.padEnd(32_000, 'true; ');
  const commands = ['true one', 'touch two', 'touch three', `touch four${filler}true`];
  const web = await setWebStage(
    ({ step }) => {
      const command = commands[step];
      return command === undefined ? 'done' : [['bash', { command }]];
    },
    {
      tools: createBuiltInTools(),
      config: { permissions: { cli: { ...NONE, ask: ['bash'] }, config: NONE } },
    },
  );
  try {
    await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'begin' } });
    const next = async (text: string) => {
      let found: { id: string; short_id: string; shown: string; input: string } | undefined;
      await until(async () => {
        [found] = (await web.ask('/v1/approvals')).json.approvals;
        return found?.input.includes(text) === true;
      }, text);
      return found as NonNullable<typeof found>;
    };
    const post = async (path: string, body: object = {}) => {
      const { status, json } = await web.ask(`/v1/approvals/${path}`, { method: 'POST', body });
      return { outcome: `${status} ${json.error?.code ?? json.verdict}`, message: json.error?.message ?? '' };
    };
    const folder = (await web.stage.agent('main')).config.cwd;

    const one = await next('one');
    assert.equal((await post(`${one.short_id}/deny`)).outcome, '200 deny');
    const two = await next('two');
    const late = await post(`${one.short_id}/allow`);
    assert.equal(late.outcome, '409 E_ASK_ANSWERED');
    assert.match(
      late.message,
      /means main: bash true one, which was denied by you \d+s ago; nothing was answered/,
    );
    for (const shown of [one.shown, one.id, 'f'.repeat(64)])
      for (const verdict of ['allow', 'deny'])
        assert.equal((await post(`${two.id}/${verdict}`, { shown })).outcome, '409 E_ASK_CHANGED');
    assert.equal((await post(`${two.id}/allow`, { shown: '' })).outcome, '409 E_ASK_CHANGED');
    assert.equal(existsSync(join(folder, 'two')), false);
    assert.equal((await post(`${two.short_id}/allow`, { shown: two.shown })).outcome, '200 allow');

    const three = await next('three');
    assert.equal(existsSync(join(folder, 'two')), true);
    const rewrite = (text: string) => {
      const ledger = new DatabaseSync(web.stage.store.location.replace(/^sqlite:/, ''));
      ledger.prepare('UPDATE asks SET input = ? WHERE id = ?').run(text, three.id);
      ledger.close();
    };
    rewrite(three.input.replace('three', 'other'));
    for (const body of [{}, { shown: three.shown }, { shown: three.id }])
      assert.equal((await post(`${three.id}/allow`, body)).outcome, '409 E_ASK_CHANGED');
    rewrite(three.input);
    assert.equal((await post(`${three.id}/allow`)).outcome, '200 allow');

    const four = await next('four');
    const { approvals } = (await web.ask(`/v1/approvals?id=${four.short_id}`)).json;
    assert.deepEqual(JSON.parse(approvals[0].input), { command: commands[3] });
    assert.equal((await web.ask(`/v1/approvals?id=${one.short_id}`)).json.error.code, 'E_ASK_ANSWERED');
    assert.equal((await post(`${four.id.slice(0, 5)}/allow`)).outcome, '404 E_ASK_NOT_FOUND');
    assert.equal((await post(`${four.id.slice(0, 6)}/deny`)).outcome, '200 deny');
  } finally {
    await web.close();
  }
});
