/**
 * A workflow as a function of a program: two reviews, each finding checked by a second agent. Its id makes it durable: a program that is started again goes on
 * from the ledger, or has the result at once. The model here is scripted, so the example runs offline; name any provider instead.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScriptedModel, openCoppice, type WorkflowGlobals } from 'coppice';

const folder = mkdtempSync(join(tmpdir(), 'coppice-example-'));
const scripted = createScriptedModel(
  {
    rules: [
      {
        when: { user: '^Review (?:oak|hazel)' },
        calls: [{ name: 'submit_result', input: { result: { findings: ['{{agent.name}} leaks'] } } }],
      },
      { when: { user: '^Is it true' }, say: 'yes' },
    ],
  },
  'example',
);
const coppice = await openCoppice({
  database: `sqlite:${join(folder, 'example.db')}`,
  model: 'example',
  models: { example: scripted },
});

interface Review {
  readonly findings: readonly string[];
}
const REVIEW = {
  type: 'object',
  required: ['findings'],
  properties: { findings: { type: 'array', items: { type: 'string' } } },
};

async function review({
  agent,
  pipeline,
  phase,
  args,
}: WorkflowGlobals<{ readonly files: readonly string[] }>) {
  phase('Review');
  const verdicts = await pipeline(
    args.files,
    (file) => agent<Review>(`Review ${file}.`, { label: file, schema: REVIEW, onFailure: 'throw' }),
    ({ findings: [finding = 'nothing'] }) =>
      agent(`Is it true that ${finding}?`, { phase: 'Verify' }).then((said) => `${finding}: ${said}`),
  );
  return { verdicts, failures: agent.failures().length };
}

for (const time of ['first', 'second']) {
  const run = await coppice.workflow(review, { files: ['oak', 'hazel'] }, { id: 'review-of-today' });
  const { verdicts } = await run.result();
  const { succeeded, failed } = await run.outcome();
  console.log(`${time}: ${verdicts.join(', ')} (${succeeded} succeeded, ${failed} failed)`);
}
await coppice.close();
rmSync(folder, { recursive: true });
