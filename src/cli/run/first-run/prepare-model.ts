import type { ToolsetTerms } from '../../../kernel/toolsets/toolset-terms.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import type { UiStyle } from '../../../render/style.ts';
import type { Screen, ScreenListener } from '../../../tui/terminal/screen.ts';
import { chooseModel } from '../../setup/choose-model.ts';
import { namedProfile } from '../../setup/compose-config.ts';
import { type Context, reloaded } from '../../setup/context.ts';
import { DEMO_MODEL } from '../../setup/demo-rules.ts';
import { firstRun, NO_MODEL } from './first-run.ts';

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
  const named = namedProfile(terms, profile);
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
