/** A program with a workflow of its own, which tests kill and start again: `node workflow-program.ts DATABASE LOG`. Prints the result. */
import { appendFileSync } from 'node:fs';
import { createScriptedModel, openCoppice } from '../../src/coppice.ts';

const [, , database = '', log = ''] = process.argv;
const rules = [{ when: { user: '^slow ' }, delay_ms: 60, say: 'did {{user.^slow (\\w+)}}' }];
const model = createScriptedModel({ rules }, 'program');
const coppice = await openCoppice({
  ...{ database, model: 'script', builtInTools: [] },
  models: {
    script: {
      ...model,
      async stream(request, onDelta) {
        const outcome = await model.stream(request, onDelta);
        if (outcome.type === 'answer') appendFileSync(log, `${JSON.stringify(request.messages.at(-1))}\n`);
        return outcome;
      },
    },
  },
});
const run = await coppice.workflow(
  async function audit({ pipeline, agent, args, sleep }) {
    const done = await pipeline(
      args,
      (word) => agent(`slow ${word}`),
      async (said, word) => {
        await sleep(0.02);
        return agent(`slow ${said?.split(' ')[1]}${word}`);
      },
    );
    return done.join(', ');
  },
  [...'abcdefgh'],
  { id: 'audit' },
);
console.log(await run.result());
await coppice.close();
