import type { EditorFolder } from '../../../acp/acp-options.ts';
import type { Store } from '../../../store/store.ts';
import { chooseModel, modelChoices } from '../../setup/choose-model.ts';
import {
  composeConfig,
  composeLimits,
  composeTerms,
  namedProfile,
  type RootOptions,
} from '../../setup/compose-config.ts';
import { composeRuntime } from '../../setup/compose-runtime.ts';
import { type Context, reloaded } from '../../setup/context.ts';
import { demoModels } from '../../setup/demo-rules.ts';
import { EditorServers } from './editor-servers.ts';

/** Options of the command line that apply to every conversation. */
export type EditorRules = Pick<RootOptions, 'allow' | 'deny' | 'toolset' | 'profile'>;

export interface EditorPlaces {
  /** Opens one runtime for each folder, with the profiles and instructions of the folder. */
  readonly placeOf: (cwd: string) => Promise<EditorFolder>;
  readonly close: () => Promise<void>;
}

export function editorPlaces(context: Context, store: Store, rules: EditorRules): EditorPlaces {
  const places = new Map<string, Promise<EditorFolder>>();
  const opened: Promise<EditorFolder>[] = [];
  return {
    placeOf: async (cwd) => {
      const place =
        places.get(cwd) ?? openPlace({ ...context, options: { ...context.options, cwd } }, store, rules);
      if (!opened.includes(place)) opened.push(place);
      places.set(cwd, place);
      // A place without a model is not cached: another process may add one at any time, which makes the configuration that was read stale.
      if (!(await place.then(hasModel, () => false))) places.delete(cwd);
      return place;
    },
    close: async () => {
      const all = await Promise.allSettled(opened);
      await Promise.all(
        all.map((one) => (one.status === 'fulfilled' ? one.value.runtime.close() : undefined)),
      );
    },
  };
}

function hasModel(place: EditorFolder): boolean {
  try {
    place.draft();
    return true;
  } catch {
    return false;
  }
}

async function openPlace(given: Context, store: Store, rules: EditorRules): Promise<EditorFolder> {
  const fresh = await reloaded(given);
  const servers = new EditorServers(fresh.loaded.configuration.mcp);
  const configuration = { ...fresh.loaded.configuration, mcp: servers.mcp };
  const context = { ...fresh, loaded: { ...fresh.loaded, configuration } };
  const terms = composeTerms(context);
  const profile = namedProfile(terms, rules.profile);
  const defaults = context.loaded.configuration.agents?.defaults;
  const runtime = await composeRuntime(context, store, terms, { extra: demoModels(true), can_ask: true });
  return {
    runtime,
    draft: () => ({
      model: chooseModel(context, profile),
      thinking: profile?.thinking ?? defaults?.thinking ?? 'off',
      mode: 'ask',
    }),
    begin: ({ model, thinking, mode }) => {
      const config = composeConfig(context, terms, model, { ...rules, thinking });
      return {
        config: mode === 'ask' ? config : { ...config, permissions: { ...config.permissions, mode } },
        limits: composeLimits(context, {}, rules.profile),
      };
    },
    models: () => modelChoices(context, terms),
    bring: (named) => servers.bring(named),
  };
}
