import { errorJson } from '../../documents/error-json.ts';
import { probeKey } from '../../models/provider/probe-key.ts';
import { quirksTold } from '../../models/provider/quirk-book.ts';
import { openModel } from '../../models/providers.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { keptIn } from '../../records/kept-in.ts';
import { agentPrograms } from '../../settings/agent-programs.ts';
import { dataFolder } from '../../settings/folders.ts';
import { limitFile, quirkFile } from '../../settings/quirk-file.ts';
import type { Store } from '../../store/store.ts';
import { chooseModel } from '../setup/choose-model.ts';
import type { Context } from '../setup/context.ts';
import { loadProfiles } from '../setup/profiles/profiles.ts';
import { type Check, needed } from './machine-checks.ts';

/** Checks every configured model: opens it as a run would, and asks each provider once whether it accepts the key. */
export async function modelChecks(context: Context, store: Store | null): Promise<Check[]> {
  const wanted = await wantedModels(context, store);
  const probes = new Map<string, Promise<{ readonly ok: boolean; readonly text: string }>>();
  return Promise.all(
    [...wanted].map(async ([name, whose]): Promise<Check> => {
      const check = (ok: boolean, text: string) => needed('model', ok, text);
      if (name === null) return check(false, whose.join(', '));
      const said = `${name} (${whose.join(', ')})`;
      try {
        await openModel(name, settings(context));
        const provider = /^(?!scripted\/)([^:/]+)\//.exec(name)?.[1];
        if (provider === undefined) return check(true, said);
        const { ok, text } = await keptIn(probes, provider, () => probeKey(provider, settings(context)));
        const left_out = quirksTold(quirkFile(dataFolder(context.env)).of(name));
        const learnt = limitFile(dataFolder(context.env)).of(name);
        const parts = [text, left_out && `asked ${left_out}`, learnt && `as last seen: ${learnt}`];
        return check(ok, `${said}: ${parts.filter((part) => part !== '').join('; ')}`);
      } catch (error) {
        return check(false, `${said}: ${errorJson(error).message}`);
      }
    }),
  );
}

function settings({ loaded: { configuration }, env }: Context) {
  return { providers: configuration.providers ?? {}, env, acp: agentPrograms(configuration, env, null) };
}

/** Returns models by name, each with what uses it; null for a model that could not be chosen. */
async function wantedModels(context: Context, store: Store | null): Promise<Map<string | null, string[]>> {
  const wanted = new Map<string | null, string[]>();
  const want = (name: string | null | undefined, who: string): void => {
    if (name != null) wanted.set(name, [...(wanted.get(name) ?? []), who]);
  };
  try {
    want(chooseModel(context), 'usual');
  } catch (error) {
    if (!(error instanceof CoppiceError)) throw error;
    wanted.set(null, ['none chosen and no key found; coppice demo needs neither']);
  }
  const { agents, context: conversations } = context.loaded.configuration;
  want(agents?.defaults?.subagents?.model, 'sub-agents');
  want(conversations?.model, 'summaries');
  for (const name of agents?.defaults?.fallback ?? []) want(name, 'fallback');
  for (const { name, model, fallback = [] } of profilesOf(context)) {
    want(model, `profile ${name}`);
    for (const other of fallback) want(other, `fallback of profile ${name}`);
  }
  for (const { name, config, enabled } of (await store?.jobs().catch(() => [])) ?? [])
    if (enabled) want(config.model, `schedule ${name}`);
  return wanted;
}

function profilesOf(context: Context) {
  try {
    return [...loadProfiles(context).profiles.values()];
  } catch {
    // Another check reports what is wrong with them.
    return [];
  }
}
