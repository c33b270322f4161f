import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { waitEdges } from '../../../src/kernel/mailbox/wait-edges.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { isTerminal } from '../../../src/records/agent/state.ts';
import type { PlacedMessage } from '../../../src/records/conversation/message.ts';
import type { Store } from '../../../src/store/store.ts';
import { isOfPerson } from '../../../src/trees/rewind/cut-point.ts';
import { rewindTree } from '../../../src/trees/rewind/rewind-tree.ts';
import type { Stage } from '../../runtime/stage.ts';

/** Takes the tree back; resolves to the agents of the new one, its root first. */
export async function rewound(store: Store, root_id: string, to: string): Promise<readonly Agent[]> {
  const root = (await store.agent(root_id)) as Agent;
  const { root_id: id } = await rewindTree(store, root, { to }, randomUUID(), tmpdir());
  return (await store.agents({ root_id: id as string })).toReversed();
}

/**
 * What a tree has done, in words that are the same for every tree that did it: names for ids, no times, and the results
 * of one turn by name, since calls that run side by side end in any order.
 */
export async function story(store: Store, root_id: string): Promise<string> {
  const agents = (await store.agents({ root_id })).toReversed();
  const names = new Map(agents.flatMap(({ id, name, was = [] }) => [id, ...was].map((one) => [one, name])));
  const plain = (text: string) =>
    [...names]
      .reduce((told, [id, name]) => told.replaceAll(id, name), text)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, '')
      .replaceAll(/--- \S+/g, '---')
      .replaceAll(/call-\d+|\b\d+ s\b|"did":"[^"]*"|\[Did: [^\]]*\]|did: [^\n]*/g, '');
  const lines: string[] = [];
  for (const { id, name, state } of agents.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    lines.push(`${name}: ${state.type}`);
    let results: string[] = [];
    for (const message of await store.history(id)) {
      if (message.kind === 'event') continue;
      const line = plain(said(message));
      if (message.kind === 'result') {
        results.push(line);
        continue;
      }
      lines.push(...results.toSorted(), line);
      results = [];
    }
    lines.push(...results.toSorted());
  }
  return lines.join('\n');
}

function said({ kind, content }: PlacedMessage): string {
  if (kind === 'assistant')
    return content.parts
      .map((part) => (part.type === 'call' ? `${part.name} ${part.input}` : part.text))
      .join(' ');
  return kind === 'result'
    ? `${content.name} ${content.status} ${content.output}`
    : 'text' in content
      ? content.text
      : '';
}

/** Checks the laws that a tree at rest must keep, cut or not. */
export async function assertLawful(store: Store, root_id: string): Promise<void> {
  const agents = await store.agents({ root_id });
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const tree = await store.tree(root_id);
  assert.equal(tree?.total, agents.length, 'law 7: every agent is counted');
  assert.equal(tree?.live, agents.filter(({ state }) => !isTerminal(state.type)).length, 'law 7');
  for (const agent of agents) {
    const { id, last_seq, state, parent_id, mail_count, noticed } = agent;
    const history = await store.history(id);
    assert.deepEqual(
      history.map(({ seq }) => seq),
      Array.from({ length: last_seq }, (_, at) => at + 1),
      'law 11',
    );
    const open = new Map<string, number>();
    for (const { kind, content, agent_id } of history) {
      if (agent_id !== id) continue;
      if (kind === 'assistant') {
        for (const [call, results] of open) assert.equal(results, 1, `law 5: ${call}`);
        open.clear();
        for (const part of content.parts) if (part.type === 'call') open.set(part.id, 0);
      } else if (kind === 'result') open.set(content.call_id, (open.get(content.call_id) ?? 1) + 1);
    }
    const mail = await store.mail(id, true);
    assert.deepEqual(
      mail.map(({ number }) => number),
      Array.from({ length: mail_count }, (_, at) => at + 1),
      'law 11: letters',
    );
    if (!isTerminal(state.type))
      for (const { consumed_seq, number, kind } of mail)
        assert.ok(
          consumed_seq !== null || number <= noticed,
          `law 6: ${kind} to ${agent.name} was never read`,
        );
    for (const target of waitEdges(state)) assert.ok((await store.waiters(target)).includes(id), 'law 10');
    const parent = byId.get(parent_id ?? '');
    if (parent?.state.type === 'killed') assert.ok(isTerminal(state.type), 'law 9');
  }
}

/** Every place of a tree at which it can be cut, as a person names them. */
export async function placesOf(store: Store, root_id: string): Promise<readonly string[]> {
  const places: string[] = [];
  for (const { id, forked_from, last_seq } of await store.agents({ root_id }))
    for (let seq = (forked_from?.seq ?? 0) + 1; seq <= last_seq; seq += 1) places.push(`${id}#${seq}`);
  return places;
}

/** Cuts a finished tree at every place, continues each cut, and compares what became of it. Returns how many cuts there were. */
export async function assertSameFrom(
  stage: Stage,
  root_id: string,
  places: readonly string[],
): Promise<number> {
  const { store, runtime } = stage;
  const tree = (await store.agent(root_id)) as Agent;
  const expected = await story(store, root_id);
  const before = await rowsOf(store, root_id);
  for (const place of places)
    for (const to of [place, `before ${place}`]) {
      const cut = await rewound(store, root_id, to).catch((error: Error) => {
        if (/nothing comes before/.test(error.message)) return null;
        throw error;
      });
      if (cut === null) continue;
      const [root] = cut as [Agent];
      // Before a message of a person the tree waits for another one.
      if (to !== place && (await isOfPerson(store, tree, place))) {
        await assertLawful(store, root.id);
        continue;
      }
      await runtime.resume(root.id);
      await runtime.settled(root.id);
      await assertLawful(store, root.id);
      assert.equal(await story(store, root.id), expected, `cut at ${to}`);
    }
  assert.deepEqual(await rowsOf(store, root_id), before, 'the old tree stays as it is');
  return places.length;
}

async function rowsOf(store: Store, root_id: string): Promise<unknown> {
  const agents = await store.agents({ root_id });
  return Promise.all(
    agents.map(async ({ updated_at: _, unread: __, ...agent }) => [
      agent,
      await store.history(agent.id),
      await store.mail(agent.id, true),
    ]),
  );
}
