import { sign } from '../../render/style.ts';
import type { Look } from '../look.ts';
import { line } from '../text/line.ts';

const CHOICES = [
  ['Watch a 20-second demo', '(offline, scripted agents, real tools)'],
  ['Add a key', '(ANTHROPIC_API_KEY, OPENAI_API_KEY…)'],
  ['Use a local model', '(OpenAI-compatible URL)'],
] as const;

/** What a person sees who has no key yet (UX.md, First run). `selected` counts from 0. */
export function firstRun(selected: number, width: number, look: Look): string[] {
  const longest = Math.max(...CHOICES.map(([choice]) => choice.length));
  const rows = CHOICES.map(([choice, detail], index) => {
    const mark = index === selected ? (look.accessible ? '> ' : `${sign(look, '▸')} `) : '  ';
    const shown = detail.replace('…', sign(look, '…'));
    return line(look, width, [
      mark,
      index === selected
        ? ['bold', `${index + 1}  ${choice.padEnd(longest)}`]
        : `${index + 1}  ${choice.padEnd(longest)}`,
      ['dim', `   ${shown}`],
    ]);
  });
  return [line(look, width, ['No model key found. Nothing was sent anywhere.']), ...rows];
}
