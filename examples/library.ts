/**
 * The library in one file: a tool of one's own, a model, an agent that forks two children and adds up what they report.
 * The model here is scripted, so the example runs offline; name `anthropic/…` or any other provider instead.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScriptedModel, defineTool, openCoppice } from 'coppice';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'coppice-example-'));

const count = defineTool({
  name: 'count_letters',
  description: 'Count the letters of a word.',
  input: z.strictObject({ word: z.string().describe('The word.') }),
  side_by_side: true,
  idempotent: true,
  run: async ({ word }) => String(word.length),
});

const scripted = createScriptedModel(
  {
    rules: [
      {
        when: { root: true, step: 0 },
        calls: ['oak', 'hazel'].map((word) => ({
          name: 'fork',
          input: { name: word, prompt: `Count the letters of ${word}.` },
        })),
      },
      {
        when: { root: true, step: 1 },
        calls: [{ name: 'wait', input: { timeout: 30, from_agents: '{{results.fork.*.agent_id}}' } }],
      },
      {
        when: { root: true },
        say: '{{#each results.wait.-1.results}}{{.name}} has {{.message}} letters. {{/each}}',
      },
      { when: { step: 0 }, calls: [{ name: 'count_letters', input: { word: '{{agent.name}}' } }] },
      {
        when: { step: 1 },
        calls: [{ name: 'send', input: { to: '{{parent_id}}', message: '{{results.count_letters.0}}' } }],
      },
      { say: 'Done.' },
    ],
  },
  'example',
);

const coppice = await openCoppice({
  database: `sqlite:${join(folder, 'example.db')}`,
  model: 'example',
  models: { example: scripted },
  tools: [count],
});
coppice.subscribe((event) => {
  if (event.type === 'agent' && event.created) console.log(`+ ${event.agent.name}`);
  if (event.type === 'mail') console.log(`✉ ${event.mail.from_name}: ${event.mail.body}`);
});

const agent = await coppice.start({ prompt: 'How many letters have oak and hazel?' });
const { reply, failure } = await agent.result();
console.log(failure === null ? reply : `failed: ${failure.error}`);
await coppice.close();
rmSync(folder, { recursive: true });
