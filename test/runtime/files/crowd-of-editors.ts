import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blameDocument } from '../../../src/documents/blame-json.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { type Play, type Stage, setStage } from '../stage.ts';

/** The text of the file in a result of `read`, without line numbers. */
function shownText(output: string): string {
  return output
    .split('\n')
    .filter((line) => /^\d+\t/.test(line))
    .map((line) => `${line.replace(/^\d+\t/, '')}\n`)
    .join('');
}

/** Lets each of `agents` forks add `edits` lines to one file, alternating `patch` and `write` of the whole file; a refused fork reads the file again. */
export async function crowdOfEditors(
  agents: number,
  edits: number,
  database: string | undefined,
): Promise<{ readonly on: Stage; readonly file: string; readonly refusals: number }> {
  const names = Array.from({ length: agents }, (_, at) => `editor${at + 1}`);
  const play: Play = ({ name, step, results, last }) => {
    if (name === 'main')
      return step === 0 ? names.map((one) => ['fork', { name: one, prompt: 'edit' }]) : 'done';
    const done = results.filter((one) => one.name !== 'read' && one.status === 'ok').length;
    if (done === edits) return 'done';
    const [read] = last;
    if (read?.name !== 'read') return [['read', { path: 'shared.txt' }]];
    const own = `${name} ${done}\n`;
    const added = `${own}${name} ${done + 1}\n`;
    if (done % 2 === 0)
      return [['patch', { path: 'shared.txt', edits: [{ old_text: own, new_text: added }] }]];
    return [['write', { path: 'shared.txt', content: shownText(read.output).replace(own, added) }]];
  };
  const on = await setStage(play, { tools: createBuiltInTools(), database });
  const limits = { children: agents, live: agents + 1, turns: 100 + edits * 50 };
  const root = await on.start('begin', limits);
  const file = join(root.config.cwd, 'shared.txt');
  writeFileSync(file, names.map((name) => `${name} 0\n`).join(''));
  await on.runtime.settled(root.id);
  let refusals = 0;
  for (const name of names)
    for (const { status } of await on.results(await on.agent(name))) if (status === 'error') refusals += 1;
  return { on, file, refusals };
}

/** The lines of the file if no edit was lost. */
export function everyEdit(agents: number, edits: number): string[] {
  return Array.from({ length: agents }, (_, at) =>
    Array.from({ length: edits + 1 }, (__, edit) => `editor${at + 1} ${edit}`),
  ).flat();
}

export function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/** Each line with the agent whose call wrote it. */
export async function blamed(on: Stage, file: string): Promise<string[]> {
  const { lines, changes, whole } = await blameDocument(on.store, file, readFileSync(file, 'utf8'));
  assert.ok(whole);
  return lines.map(
    ({ text, source, change }) => `${text} by ${change === null ? source : changes[change]?.agent}`,
  );
}

export function byTheirEditors(lines: readonly string[]): string[] {
  return lines.map((line) => `${line} by ${line.endsWith(' 0') ? 'before' : line.split(' ')[0]}`);
}
