import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { UiStyle } from '../../render/style.ts';
import { changeConfiguration, replaceJson } from '../../settings/change-configuration.ts';
import { keyFile, readKeys } from '../../settings/key-file.ts';
import type { Screen, ScreenListener } from '../../tui/terminal/screen.ts';
import { chooseModel } from '../setup/choose-model.ts';
import { type Context, reloaded } from '../setup/context.ts';
import { DEMO_MODEL } from '../setup/demo-rules.ts';
import { addKey } from './add-key.ts';
import { Dialogue } from './dialogue.ts';
import type { Choice } from './dialogue-view.ts';
import type { Found } from './try-model.ts';
import { useLocalModel } from './use-local-model.ts';

// First run: guides a person without a model to one, by a key or a local server.

export interface PreparedModel {
  readonly model: string;
  /** Context with what was set up. */
  readonly context: Context;
}

export interface PrepareOptions {
  readonly profile?: string | undefined;
  /** Whether to set up a model even if there is one. */
  readonly set_up: boolean;
  readonly style: UiStyle;
  readonly line_mode: boolean;
  readonly openScreen: (listener: ScreenListener) => Screen;
}

/** Chooses the model of a new conversation; guides a person without one through the first run. Null if they left. */
export async function prepareModel(
  context: Context,
  terms: ToolsetTerms,
  { profile, set_up, style, line_mode, openScreen }: PrepareOptions,
): Promise<PreparedModel | null> {
  const named = profile === undefined ? null : (terms.profiles.get(profile) ?? null);
  const usual = set_up ? null : modelOrNull(() => chooseModel(context, named));
  if (usual !== null) return { model: usual, context };
  const end = await firstRun(context, set_up ? 'Which model?' : NO_MODEL, style, line_mode, openScreen);
  if (end === null) return null;
  if (end === 'demo') return { model: DEMO_MODEL, context };
  // `--model` and the profile name the model that the person has just replaced.
  return { model: end.model, context: await reloaded(context) };
}

function modelOrNull(choose: () => string): string | null {
  try {
    return choose();
  } catch (error) {
    if (error instanceof CoppiceError && error.code === 'E_NO_KEY') return null;
    throw error;
  }
}

export const NO_MODEL = 'No model key found. Nothing was sent anywhere.';

export const FIRST_CHOICES: readonly Choice[] = [
  { text: 'Watch a 20-second demo', detail: '(offline, scripted agents, real tools)' },
  { text: 'Add a key', detail: '(ANTHROPIC_API_KEY, OPENAI_API_KEY…)' },
  { text: 'Use a local model', detail: '(OpenAI-compatible URL)' },
];

/** `Found`: it was written to keys and configuration; the model answered, or the person kept it all the same. Null: the person left, or was told what to do. */
type FirstRunEnd = 'demo' | Found | null;

/** Guides a person to a model. `why` is the title of the first question, which says why it is asked. */
async function firstRun(
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

/** What is read of a configuration file. */
interface Before {
  readonly providers?: object;
  readonly agents?: { readonly defaults?: { readonly model?: string } };
}

/**
 * Writes what was found: keys to the key file, everything else to the configuration, whose other entries stay. A default model of the agents is replaced too,
 * because it takes precedence. Returns the files that were written.
 */
export function writeSetup(found: Found, named: string | undefined, env: NodeJS.ProcessEnv): string[] {
  const written: string[] = [];
  if (Object.keys(found.keys).length > 0) {
    replaceJson(keyFile(env), { ...readKeys(env), ...found.keys }, 0o600);
    written.push(keyFile(env));
  }
  const file = changeConfiguration(named, env, (before) => {
    const { providers, agents } = before as Before;
    const { model } = found;
    return {
      ...before,
      model,
      ...(agents?.defaults?.model === undefined
        ? {}
        : { agents: { ...agents, defaults: { ...agents.defaults, model } } }),
      ...(Object.keys(found.providers).length === 0
        ? {}
        : { providers: { ...providers, ...found.providers } }),
    };
  });
  return [...written, file];
}
