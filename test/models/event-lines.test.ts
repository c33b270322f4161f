// Proves that events of a stream are the same whichever line end it has, and wherever it is cut into chunks, between CR and LF too.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EventLines } from '../../src/models/wire/send-wire.ts';

const LINES = ['event: a', 'data: 1', 'data: 2', '', 'event: b', 'data: 3', '', 'data: 4', ''];
const EVENTS = [
  ['a', '1\n2'],
  ['b', '3'],
  ['', '4'],
];

function eventsOf(...chunks: readonly string[]): string[][] {
  const events: string[][] = [];
  const lines = new EventLines((data, name) => events.push([name, data]));
  for (const chunk of chunks) lines.push(chunk);
  lines.end();
  return events;
}

for (const [name, end] of [
  ['LF', '\n'],
  ['CR', '\r'],
  ['CR LF', '\r\n'],
] as const)
  it(`lines end with ${name}`, () => {
    const text = LINES.map((line) => line + end).join('');
    assert.deepEqual(eventsOf(...text), EVENTS, 'one character at a time');
    for (let cut = 0; cut <= text.length; cut += 1)
      assert.deepEqual(eventsOf(text.slice(0, cut), text.slice(cut)), EVENTS, `cut at ${cut}`);
    assert.deepEqual(eventsOf(`\u{feff}${text}`), EVENTS, 'with a byte order mark');
  });
