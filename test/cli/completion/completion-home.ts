import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../../src/store/open-store.ts';
import { child, newAgent, newAsk, newRoot, stepOf } from '../../store/ledger-fixture.ts';
import { type Home, makeHome } from '../run-cli.ts';

const ESCAPE = String.fromCharCode(27);
export const IDS = {
  root: '11111111-1111-4111-8111-111111111111',
  reader: '22222222-2222-4222-8222-222222222222',
  dead: '2222ffff-2222-4222-8222-222222222222',
  evil: '33333333-3333-4333-8333-333333333333',
  runner: '44444444-4444-4444-8444-444444444444',
  run: '55555555-5555-4555-8555-555555555555',
  ask: '66666666-6666-4666-8666-666666666666',
};
/** A hostile name that a model may give to an agent. */
const EVIL_NAME = `$(touch${ESCAPE}[31m pwned)\`touch pwned\`;x`;

/** Creates a home whose ledger holds agents, a run and a question with these ids. */
export async function homeWithIds(): Promise<Home> {
  const home = makeHome();
  mkdirSync(join(home.folder, 'data', 'coppice'), { recursive: true });
  const store = await openStore(home.database);
  try {
    const root = await newRoot(store, {}, { id: IDS.root, name: 'main' });
    await child(store, root, { id: IDS.reader, name: 'file-reader' });
    await child(store, root, {
      id: IDS.dead,
      name: 'gone',
      state: { type: 'killed', by: 'you', at: 1 } as never,
    });
    await child(store, root, { id: IDS.evil, name: EVIL_NAME });
    const runner = newAgent(root, { id: IDS.runner, name: 'runner', origin: 'session' });
    const run = {
      id: IDS.run,
      source: 'subagent' as const,
      session_key: 'agent:main:subagent:x',
      requester_id: root.id,
      requester_key: root.session_key,
      task: 'look for XFS',
      label: 'xfs',
      model: 'fake/m',
      thinking: 'off',
      timeout_ms: null,
      cleanup: 'keep' as const,
      deliver: [],
      job_id: null,
    };
    const ask = newAsk({
      id: IDS.ask,
      root_id: root.id,
      agent_id: root.id,
      agent_name: 'main',
      call_id: 'c',
      subject: 'rm -rf\tdist\nnow',
    });
    const now = await store.agent(root.id);
    assert.ok(now);
    const verdicts = await store.commit([stepOf(now, { create: [{ ...runner, run }], asks: [ask] })]);
    assert.deepEqual(
      verdicts.map((verdict) => verdict.ok),
      [true],
    );
  } finally {
    await store.close();
  }
  return home;
}
