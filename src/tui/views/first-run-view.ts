import { sign, type UiStyle } from '../../render/style.ts';
import { line } from '../text/line.ts';

const CHOICES = [
  ['Watch a 20-second demo', '(offline, scripted agents, real tools)'],
  ['Add a key', '(ANTHROPIC_API_KEY, OPENAI_API_KEY…)'],
  ['Use a local model', '(OpenAI-compatible URL)'],
] as const;

/** The menu for a person without a key for a model. `selected` counts from 0. */
export function firstRun(selected: number, width: number, style: UiStyle): string[] {
  const longest = Math.max(...CHOICES.map(([choice]) => choice.length));
  const rows = CHOICES.map(([choice, detail], index) => {
    const mark = index === selected ? (style.accessible ? '> ' : `${sign(style, '▸')} `) : '  ';
    const shown = detail.replace('…', sign(style, '…'));
    return line(style, width, [
      mark,
      index === selected
        ? ['bold', `${index + 1}  ${choice.padEnd(longest)}`]
        : `${index + 1}  ${choice.padEnd(longest)}`,
      ['dim', `   ${shown}`],
    ]);
  });
  return [line(style, width, ['No model key found. Nothing was sent anywhere.']), ...rows];
}
