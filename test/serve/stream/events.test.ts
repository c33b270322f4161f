// Proves what the event stream sends: everything that happens to a tree, whether this server or another process leads it, each message once and in order, on
// both databases; and that a client that reconnects gets what it missed, or is told to reload.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { openRuntime } from '../../../src/runtime/open-runtime.ts';
import type { RuntimeFace } from '../../../src/runtime/runtime-face.ts';
import { documentSchema } from '../../../src/serve/api/openapi.ts';
import type { Store } from '../../../src/store/store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { onBothDatabases } from '../../runtime/both-databases.ts';
import type { Play, Stage, StageOptions } from '../../runtime/stage.ts';
import { until } from '../../until.ts';
import { setWebStage, type WebStage } from '../http/web-stage.ts';
import { type Follower, follow, followNew } from './event-stage.ts';

const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
  documentSchema('coppice/event/v1'),
);
const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  input: z.object({ text: z.string() }),
  subject: ({ text }) => text,
  run: ({ text }) => `noted ${text}`,
});
const closing: (() => Promise<void>)[] = [];

async function set(play: Play, options: StageOptions = {}): Promise<{ stage: Stage; web: WebStage }> {
  const web = await setWebStage(play, options);
  closing.push(async () => {
    await web.close();
    assert.deepEqual(web.troubles, []);
  });
  return { stage: web.stage, web };
}

/** Another process, from the ledger's point of view. */
async function another(stage: Stage, play: (text: string) => Promise<string>): Promise<RuntimeFace> {
  const runtime = await openRuntime({
    store: await stage.elsewhere(),
    openModel: async () => ({
      id: 'play/other',
      context_window: null,
      tells_cost: false,
      async stream(request) {
        const last = request.messages.at(-1);
        const text = await play(last?.role === 'user' ? last.text : '');
        const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
        return {
          type: 'answer',
          content: { model: 'play/other', parts: [{ type: 'text', text }] },
          usage,
          finish: 'stop',
        };
      },
    }),
    tools: [],
    spill_dir: process.cwd(),
    env_allow: [],
  });
  closing.push(() => runtime.close());
  return runtime;
}

const NONE = { allow: [], ask: [], deny: [] };
const OTHER = {
  model: 'play/other',
  thinking: 'off' as const,
  system: '',
  toolsets: [],
  tools: [],
  cwd: process.cwd(),
  permissions: { cli: NONE, config: NONE },
};

const seqs = (follower: Follower, agent_id: string) =>
  follower.of('message').flatMap((event) => (event.agent_id === agent_id ? [event.message?.seq] : []));

onBothDatabases('the event stream', (database) => {
  // Runs before the stages are closed, because the servers still read their ledgers.
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const onDatabase = async (): Promise<StageOptions> => {
    const url = await database();
    return url === undefined ? {} : { database: url };
  };

  it('tells of a tree that this server leads: its agents, every message once, letters, live text, its row', async () => {
    const { stage, web } = await set(
      ({ name, step }) =>
        name === 'main' && step === 0 ? [['fork', { name: 'kid', prompt: 'be small' }]] : `${name} is done`,
      await onDatabase(),
    );
    const open = await followNew(web);
    assert.equal(open.events[0]?.type, 'resync');
    const root = await stage.start();
    const tree = await followNew(web, `?tree=${root.id}&agent=${root.id}`);
    assert.equal(tree.events[0]?.type, 'resync');
    await stage.runtime.send(root.id, 'once more');
    await stage.runtime.settled(root.id);
    const history = await stage.store.history(root.id);
    await until(() => seqs(tree, root.id).at(-1) === history.at(-1)?.seq, 'all messages came');
    const [first = 0] = seqs(tree, root.id);
    assert.deepEqual(
      seqs(tree, root.id),
      history.map(({ seq }) => seq).filter((seq) => seq >= first),
    );
    assert.ok(tree.of('mail').some(({ mail }) => mail?.body === 'once more'));
    assert.equal(
      tree
        .of('delta')
        .map(({ delta }) => (delta?.type === 'text' ? delta.text : ''))
        .join('')
        .includes('main is done'),
      true,
    );
    await until(
      () => open.of('tree').some((event) => event.tree?.root_id === root.id && event.tree.need === 'done'),
      'its row',
    );
    await until(() => open.of('agent').some((event) => event.agent?.name === 'kid'), 'its child');
    assert.deepEqual([...open.of('message'), ...open.of('delta')], []);
    for (const event of [...open.events, ...tree.events])
      assert.ok(validate(event), JSON.stringify([event, validate.errors]));
    assert.equal(new Set(tree.ids).size, tree.ids.length);
  });

  it('tells of a tree that another process leads, and of a kill from there', async () => {
    const { stage, web } = await set(() => 'unused', await onDatabase());
    const open = await followNew(web);
    assert.equal(open.events[0]?.type, 'resync');
    let answer: (text: string) => void = () => undefined;
    const elsewhere = await another(
      stage,
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const root = await elsewhere.start({ prompt: 'far away', config: OTHER });
    await until(
      () => open.of('tree').some((event) => event.tree?.root_id === root.id && event.tree.need === 'work'),
      'the tree',
    );
    await until(
      () =>
        open
          .of('workers')
          .some(({ workers }) => workers?.some(({ id }) => id === elsewhere.worker_id) === true),
      'its process',
    );
    const tree = await followNew(web, `?tree=${root.id}`);
    assert.equal(tree.events[0]?.type, 'resync');
    answer('first');
    await elsewhere.settled(root.id);
    await elsewhere.send(root.id, 'second task');
    await until(() => tree.of('mail').length === 1, 'the letter');
    await (await stage.elsewhere()).kill(root.id, 'you', Date.now());
    await until(() => open.of('agent').some((event) => event.agent?.state === 'killed'), 'the kill');
    const history = await stage.store.history(root.id);
    await until(() => seqs(tree, root.id).at(-1) === history.at(-1)?.seq, 'all messages came');
    const [first = 0] = seqs(tree, root.id);
    assert.deepEqual(
      seqs(tree, root.id),
      history.map(({ seq }) => seq).filter((seq) => seq >= first),
    );
  });

  it('tells briefly which trees have changed, whoever leads them, without their documents', async () => {
    const { stage, web } = await set(({ user }) => `${user} is done`, await onDatabase());
    const brief = await followNew(web, '?brief=true');
    assert.equal(brief.events[0]?.type, 'resync');
    const own = await stage.start();
    const elsewhere = await another(stage, async () => 'done there');
    const far = await elsewhere.start({ prompt: 'far away', config: OTHER });
    await until(() => {
      const changed = new Set(brief.of('changed').flatMap(({ trees }) => trees ?? []));
      return changed.has(own.id) && changed.has(far.id);
    }, 'both trees');
    const others = brief.events.filter(({ type }) => !['resync', 'changed', 'workers'].includes(type));
    assert.deepEqual(others, []);
    for (const event of brief.events) assert.ok(validate(event), JSON.stringify([event, validate.errors]));
    const late = await follow(web, '', brief.ids.at(-1));
    await until(() => late.events.length > 0, 'rows were not told before: it must load anew');
    assert.equal(late.events[0]?.type, 'resync');
    assert.equal((await web.ask('/v1/events?brief=true&tree=x')).status, 400);
  });

  it('opens streams again once the ledger can be read again', async () => {
    let is_away = false;
    const wrap = (store: Store): Store =>
      new Proxy(store, {
        get(target, key) {
          if (key === 'askMarks' && is_away)
            return () => Promise.reject(new StoreError('E_DB_UNAVAILABLE', 'it is away'));
          const value: unknown = Reflect.get(target, key);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    const { stage, web } = await set(({ user }) => `${user} is done`, { ...(await onDatabase()), wrap });
    is_away = true;
    for (let times = 0; times < 2; times += 1) assert.equal((await web.ask('/v1/events')).status, 503);
    is_away = false;
    const open = await followNew(web);
    assert.equal(open.status, 200);
    assert.equal(open.events[0]?.type, 'resync');
    const root = await stage.start();
    await until(() => open.of('agent').some(({ agent }) => agent?.id === root.id), 'its agent');
    await stage.runtime.settled(root.id);
  });

  it('tells of approvals that are asked and answered, and of conversations that are deleted', async () => {
    const { stage, web } = await set(({ step }) => (step === 0 ? [['note', { text: 'x' }]] : 'noted'), {
      ...(await onDatabase()),
      tools: [note],
      can_ask: true,
      config: { permissions: { cli: { allow: [], ask: ['*'], deny: [] }, config: NONE } },
    });
    const open = await followNew(web);
    assert.equal(open.events[0]?.type, 'resync');
    const root = await stage.start();
    await until(() => open.of('approval').length === 1, 'it was asked');
    const [asked] = open.of('approval');
    assert.equal(asked?.approval?.verdict, null);
    await stage.runtime.answer(asked?.approval?.id ?? '', { verdict: 'allow', scope: 'once', note: '' });
    await until(
      () => open.of('approval').some(({ approval }) => approval?.verdict === 'allow'),
      'it was answered',
    );
    await stage.runtime.settled(root.id);
  });

  it('a client that comes back gets what it missed; one that was away too long, or of another server, loads anew', async () => {
    const { stage, web } = await set(({ user }) => `answer to ${user}`, await onDatabase());
    const root = await stage.start('one');
    await stage.runtime.settled(root.id);
    const first = await followNew(web, `?tree=${root.id}`);
    assert.equal(first.events[0]?.type, 'resync');
    first.leave();
    await stage.runtime.send(root.id, 'two');
    await stage.runtime.settled(root.id);
    const second = await follow(web, `?tree=${root.id}`, first.ids.at(-1));
    await until(
      () => second.of('message').some(({ message }) => JSON.stringify(message).includes('answer to two')),
      'what it missed',
    );
    assert.deepEqual(second.of('resync'), []);
    assert.equal(new Set(seqs(second, root.id)).size, seqs(second, root.id).length);
    for (const id of [
      '00000000-1',
      `${first.ids.at(-1)?.split('-')[0]}-999999`,
      'x',
      first.ids.at(-1)?.replace(/-.*/, '-') ?? '',
    ]) {
      const lost = await followNew(web, `?tree=${root.id}&after=${id}`);
      assert.equal(lost.events[0]?.type, 'resync');
    }
    const other = await stage.start('three');
    await stage.runtime.settled(other.id);
    // No client watched that tree.
    const late = await followNew(web, `?tree=${other.id}`, second.ids.at(-1));
    assert.equal(late.events[0]?.type, 'resync');
  });
});
