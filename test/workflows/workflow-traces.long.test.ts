// Proves that the traces of a workflow run say which workflow it is and in which phase its agents worked, with requests of models only.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { closeLater, closeOpened } from '../close-opened.ts';
import { type Received, startCollector } from '../serve/traces/collector.ts';
import { until } from '../until.ts';
import { META } from './played-script.ts';
import { serveWorkflows } from './served-workflows.ts';

afterEach(closeOpened);

it('the run is a span of its own, above those of its agents, which carry their phase', async () => {
  const collector = await startCollector();
  const served = await serveWorkflows(undefined, {
    server: { traces: { endpoint: new URL('/v1/traces', collector.url).href } },
  });
  closeLater(() => served.close());
  const script = `${META}phase('Look'); return [await agent('say a', { label: 'one' }), await agent('say b', { label: 'two', phase: 'Judge' })]`;
  await served.ask('/v1/workflow-runs', { script, allow: ['*'] });
  const named = (name: string): Received | undefined => collector.spans.find((span) => span.name === name);
  await until(
    () => named('invoke_workflow test') !== undefined && named('invoke_agent two') !== undefined,
    'all',
  );
  const [run, one, two] = ['invoke_workflow test', 'invoke_agent one', 'invoke_agent two'].map(named);
  assert.deepEqual(
    [run?.values['gen_ai.operation.name'], run?.values['gen_ai.workflow.name']],
    ['invoke_workflow', 'test'],
  );
  assert.equal(run?.values['gen_ai.request.model'], undefined, 'a script is no model');
  assert.deepEqual([one?.parentSpanId, two?.parentSpanId], [run?.spanId, run?.spanId]);
  const phases = [one, two].map((span) => span?.values['coppice.workflow.phase']);
  assert.deepEqual(phases, ['Look', 'Judge']);
  const chats = collector.spans.filter(({ name }) => name.startsWith('chat '));
  assert.deepEqual(chats.map(({ values }) => values['coppice.workflow.phase']).sort(), ['Judge', 'Look']);
});
