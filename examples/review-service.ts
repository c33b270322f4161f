// A code review that outlives its process: kill it with `kill -9`, run it again, and nothing is reviewed twice. Its model is scripted.
import { createScriptedModel, defineTool, openCoppice } from 'coppice';
import * as z from 'zod';

const FILES = ['parser.ts', 'printer.ts', 'server.ts', 'client.ts', 'store.ts'] as const;
const review = z.object({ file: z.enum(FILES), problems: z.array(z.string()) });
const verdict = z.object({ merge: z.boolean(), reason: z.string() });

const readChange = defineTool({
  name: 'read_change',
  description: 'Read the change of one file.',
  input: z.object({ file: z.enum(FILES) }),
  idempotent: true,
  run: ({ file }) => (file === 'server.ts' ? '+ listen(8080) // TODO: close' : '+ // tidied up'),
});
const submit = (result: string) => ({ calls: [{ name: 'submit_result', input: { result } }] });
const scripted = createScriptedModel(
  {
    rules: [
      { when: { agent: 'verdict' }, ...submit('{"merge":false,"reason":"server.ts is never closed"}') },
      { when: { root: true }, say: 'Ready.' },
      {
        when: { step: 0 },
        delay_ms: 300,
        calls: [{ name: 'read_change', input: { file: '{{agent.name}}' } }],
      },
      { when: { result: 'TODO' }, ...submit('{"file":"{{agent.name}}","problems":["a TODO is left"]}') },
      submit('{"file":"{{agent.name}}","problems":[]}'),
    ],
  },
  'reviewers',
);

const stop = new AbortController(); // Abort it when the client leaves: everything ends, and the results say so.
const coppice = await openCoppice({
  ...{ database: 'sqlite:reviews.db', model: 'scripted', models: { scripted } }, // Or model: 'anthropic/claude-sonnet-4-5'.
  ...{ tools: [readChange], builtInTools: [] },
});
const lead = await coppice.start({
  ...{ id: 'change 42', name: 'lead', prompt: 'You lead the review of change 42. Say when you are ready.' },
  ...{ budget: { usd: 2 }, timeout_ms: 600_000, signal: stop.signal },
});
await lead.result();
const reviewers = await Promise.all(
  FILES.map((file) =>
    lead.spawn({ id: file, name: file, prompt: `Review ${file}.`, output: review, timeout_ms: 120_000 }),
  ),
);
for await (const event of lead.events({ signal: stop.signal }))
  if (event.type === 'agent')
    console.log(`${event.agent.name}: ${event.agent.doing ?? event.agent.state.type}`);
const found: string[] = [];
for (const one of reviewers) {
  const { failure, output } = await one.result();
  found.push(failure === null ? `${output.file}: ${output.problems.join(', ') || 'fine'}` : failure.error);
}
const judge = await lead.spawn({ id: 'verdict', name: 'verdict', prompt: found.join('\n'), output: verdict });
const { failure, output } = await judge.result();
console.log(failure === null ? `merge: ${output.merge}, because ${output.reason}` : failure.error);
await coppice.close();
