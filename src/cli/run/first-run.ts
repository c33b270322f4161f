import { sign, type UiStyle } from '../../render/style.ts';
import { pastedText } from '../../tui/keys/action-of.ts';
import type { Screen, ScreenListener } from '../../tui/terminal/screen.ts';
import { line } from '../../tui/text/line.ts';

const ADVICE: Readonly<Record<number, readonly string[]>> = {
  1: [
    'Set one of these, then start again:',
    '  export ANTHROPIC_API_KEY=…',
    '  export OPENAI_API_KEY=…',
    '  export GOOGLE_GENERATIVE_AI_API_KEY=…',
  ],
  2: [
    'A server on this machine: coppice --model ollama/NAME or --model lmstudio/NAME.',
    'Any other one stands in the configuration (coppice doctor shows where):',
    '  { "model": "local/NAME", "providers": { "local": { "type": "openai-compatible", "baseURL": "http://127.0.0.1:8000/v1" } } }',
  ],
};

/** No key was found: what now? True: the demo. False: the person was told how to go on. */
export async function askFirstRun(
  style: UiStyle,
  line_mode: boolean,
  openScreen: (listener: ScreenListener) => Screen,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  let selected = 0;
  const lines = () => firstRun(selected, Math.max(1, screen.columns - 1), style);
  const draw = () => screen.draw({ lines: lines(), cursor: null });
  const screen = openScreen({
    onInput: (key) => {
      // Where only lines come, all but a letter comes as if it were pasted.
      const data = pastedText(key) ?? key;
      if (data === '\x1b[A' || data === 'k') selected = Math.max(0, selected - 1);
      else if (data === '\x1b[B' || data === 'j') selected = Math.min(CHOICES.length - 1, selected + 1);
      else if (/^[1-3]$/.test(data)) return resolve(Number(data) - 1);
      else if (!line_mode && (data === '\r' || data === '\n')) return resolve(selected);
      else if (data === '\x1b' || data === '\x03' || data === 'q') return resolve(null);
      draw();
    },
    onResize: () => draw(),
    onHangup: () => resolve(null),
  });
  if (line_mode) screen.print([...lines(), '1, 2 or 3, then Enter']);
  else draw();
  const choice = await promise;
  selected = choice ?? selected;
  if (!line_mode) screen.print(lines());
  screen.close();
  if (choice === 0) return true;
  if (choice !== null) process.stdout.write(`\n${(ADVICE[choice] ?? []).join('\n')}\n`);
  return false;
}

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
