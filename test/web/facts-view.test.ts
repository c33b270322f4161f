// Proves that the page of an agent shows what it was told by the facts beside the text: results of sub-agents, attachments, letters and waits, without frames.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { build, stop } from 'esbuild';
import {
  type FanInRow,
  framesIn,
  type UserFacts,
} from '../../src/records/conversation/facts/message-facts.ts';
import type { WaitResult } from '../../src/records/conversation/facts/wait-row.ts';

type Node = unknown;

/** A rendered element, as Preact keeps it. */
interface Element {
  readonly type: string | ((props: object) => Node);
  readonly props: { readonly children?: Node };
}

interface View {
  readonly Told: (props: { text: string; facts: UserFacts; typed: boolean }) => Node;
  readonly Waited: (props: WaitResult) => Node;
}

let view: View;

before(async () => {
  const { outputFiles } = await build({
    absWorkingDir: `${import.meta.dirname}/../..`,
    ...{ bundle: true, write: false, platform: 'node', format: 'esm' },
    ...{ jsx: 'automatic', jsxImportSource: 'preact' },
    entryPoints: ['web/views/agent/facts.tsx'],
  });
  await stop();
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  view = (await import(`data:text/javascript;base64,${code}`)) as View;
});

function isElement(node: Node): node is Element {
  return typeof node === 'object' && node !== null && 'type' in node && 'props' in node;
}

/** What a component returns; a text that is shown as Markdown, which has tests in a browser, counts as one paragraph. */
function rendered({ type, props }: Element): Node {
  if (typeof type === 'string') return null;
  if (type.name !== 'Markdown') return type(props);
  return { type: 'p', props: { children: (props as { readonly text?: string }).text } };
}

/** The texts of all elements of this type in what was rendered, in order. */
function texts(node: Node, type: string): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => texts(one, type));
  if (!isElement(node)) return [];
  if (typeof node.type === 'function') return texts(rendered(node), type);
  return node.type === type ? [textOf(node)] : texts(node.props.children, type);
}

function textOf(node: Node): string {
  if (Array.isArray(node)) return node.map(textOf).join('');
  if (isElement(node)) return textOf(typeof node.type === 'function' ? rendered(node) : node.props.children);
  return typeof node === 'string' || typeof node === 'number' ? String(node) : '';
}

it('a fan-in is a table with a row for each child, with how it ended, also of two children with one task', () => {
  const child = (over: Partial<FanInRow>): FanInRow => ({
    agent_id: 'a',
    task: 'count',
    said: 'four',
    ...over,
  });
  const fan_in = [
    child({}),
    child({ agent_id: 'b', limit: 'run time of 5 s', did: '2 commands' }),
    child({ agent_id: 'c', task: 'sum', said: 'no file', error_kind: 'failed' }),
  ];
  const shown = view.Told({ text: '{"sub_agent_results":[]}', facts: { fan_in }, typed: false });
  assert.deepEqual(texts(shown, 'th'), ['count', 'count', 'sum']);
  assert.deepEqual(texts(shown, 'td'), [
    ...['✓ done', 'four', ''],
    ...['! cut short', 'run time of 5 s: four', '2 commands'],
    ...['✗ failed', 'no file', ''],
  ]);
});

it('of a message with attachments, what the person wrote is text, and each attachment is a line', () => {
  const attached = { typed: 4, labels: ['a.ts (3 lines)', 'b.png'] };
  const shown = view.Told({ text: 'read\n\n--- a.ts\nlong', facts: { attached }, typed: true });
  assert.deepEqual([texts(shown, 'p'), texts(shown, 'li')], [['read'], attached.labels]);
});

it('of two letters in one text each is shown with its sender and what it did, without the frames', () => {
  const text = [
    'You have mail.',
    ...['--- 1f letter from ada', 'first', '--- 1f did: 1 command', '--- 1f end'],
    ...['--- 1f letter from bob', 'second', 'line', '--- 1f end'],
    'Go on.',
  ].join('\n');
  const frames = framesIn(text, '1f', [
    { from_id: 'a', from_name: 'ada', did: '1 command' },
    { from_id: 'b', from_name: 'bob' },
  ]);
  assert.deepEqual(texts(view.Told({ text, facts: { frames }, typed: false }), 'p'), [
    ...['You have mail.', 'from ada', 'first', 'What it did: 1 command'],
    ...['from bob', 'second\nline', 'Go on.'],
  ]);
});

it('a text without facts is shown as it is, whatever it looks like', () => {
  const text = '{"sub_agent_results":[]}';
  for (const typed of [true, false])
    assert.deepEqual(texts(view.Told({ text, facts: {}, typed }), 'p'), [text]);
});

it('a wait is a table of agents, and says what cut it short', () => {
  const row = { agent_id: 'a', name: 'ada', status: 'received', message: 'done it' } as const;
  const rows = [row, { ...row, agent_id: 'b', status: 'dead', error: 'no key' }] as const;
  const cells = (cut: WaitResult['cut']) => {
    const shown = view.Waited({ rows, cut });
    return [
      texts(shown, 'th'),
      texts(shown, 'td').filter((_, at) => at % 3 === 1),
      texts(shown, 'p').slice(2),
    ];
  };
  const told = [
    ['ada', 'ada'],
    ['done it', 'no key\n\ndone it'],
  ];
  assert.deepEqual(cells(null), [...told, []]);
  assert.deepEqual(cells('timeout'), [...told, ['The time was over.']]);
  assert.deepEqual(cells('interrupted'), [...told, ['It was interrupted.']]);
});
