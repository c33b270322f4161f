// First run: guides a person without a model to one, by a key or a local server.
import type { UiStyle } from '../../../render/style.ts';
import type { Screen, ScreenListener } from '../../../tui/terminal/screen.ts';
import type { Context } from '../../setup/context.ts';
import { addKey } from './add-key.ts';
import { Dialogue } from './dialogue.ts';
import type { Choice } from './dialogue-view.ts';
import type { Found } from './try-model.ts';
import { useLocalModel } from './use-local-model.ts';
import { writeSetup } from './write-setup.ts';

export const NO_MODEL = 'No model key found. Nothing was sent anywhere.';

export const FIRST_CHOICES: readonly Choice[] = [
  { text: 'Watch a 20-second demo', detail: '(offline, scripted agents, real tools)' },
  { text: 'Add a key', detail: '(ANTHROPIC_API_KEY, OPENAI_API_KEY…)' },
  { text: 'Use a local model', detail: '(OpenAI-compatible URL)' },
];

/** `Found`: it was written to keys and configuration; the model answered, or the person kept it all the same. Null: the person left, or was told what to do. */
export type FirstRunEnd = 'demo' | Found | null;

/** Guides a person to a model. `why` is the title of the first question, which says why it is asked. */
export async function firstRun(
  context: Context,
  why: string,
  style: UiStyle,
  line_mode: boolean,
  openScreen: (listener: ScreenListener) => Screen,
): Promise<FirstRunEnd> {
  const dialogue = new Dialogue(style, line_mode, openScreen);
  try {
    while (!dialogue.ended) {
      const choice = await dialogue.choose(why, FIRST_CHOICES);
      if (choice === null) return null;
      if (choice === 0) return 'demo';
      const known = { env: context.env, providers: context.loaded.configuration.providers ?? {} };
      const found = choice === 1 ? await addKey(dialogue, known) : await useLocalModel(dialogue, known);
      if (found === 'told') return null;
      if (found !== null) return keep(context, dialogue, found);
    }
    return null;
  } finally {
    dialogue.close();
  }
}

function keep(context: Context, dialogue: Dialogue, found: Found): Found {
  const written = writeSetup(found, context.options.config, process.env);
  dialogue.print(`✓ ${found.model} is ready. Written: ${written.join(', ')}`);
  for (const name of Object.keys(found.keys))
    if ((process.env[name] ?? '') !== '')
      dialogue.print(
        `${name} is also set in your shell and takes precedence over the new key: unset it there`,
      );
  return found;
}
