import { CoppiceError } from '../../../records/coppice-error.ts';
import { given } from '../../../records/text/json-fields.ts';
import { openStore } from '../../../store/open-store.ts';
import { createBuiltInTools } from '../../../tools/tool-registry.ts';
import { type AgentSources, agentConfig, agentTerms, profileMap } from '../../agent-config.ts';
import { type CoppiceOptions, modelName, namedProfiles } from '../../coppice-options.ts';
import { Registry } from '../../registry.ts';
import { type CaseRoot, recordCase } from './record-case.ts';
import { type RecordedCase, readCase } from './recorded-case.ts';
import { type Replayed, type ReplayTerms, replayCase } from './replay-case.ts';

/** Options of `openCoppice` that decide what agents are sent. */
export type CaseOptions = Partial<Omit<CoppiceOptions, 'database' | 'models' | 'model'>>;

/**
 * Records a run of this program as a case (docs/testing-agents.md). `database`: as of `openCoppice`; `options`: those of the run. Rejects with
 * `E_REFUSED` and the reason if it cannot be replayed.
 */
export async function recordRun(
  database: string,
  root_id: string,
  options: CaseOptions = {},
): Promise<RecordedCase> {
  if (typeof root_id !== 'string')
    throw new CoppiceError('E_INVALID_ARGUMENT', 'recordRun needs the id of a root agent');
  const store = await openStore(database, { create: false });
  try {
    const { env = process.env } = options;
    return await recordCase(store, root_id, { version: 'library', env, today: termsOf(options) });
  } finally {
    await store.close();
  }
}

/**
 * Runs a case against the prompts, tools and profiles of this program, without a provider; no tool is run. `recorded`: the case, or its text.
 * Rejects with `E_INVALID_ARGUMENT` if it is none.
 */
export async function replayRun(
  recorded: RecordedCase | string,
  options: CaseOptions = {},
): Promise<Replayed> {
  const one = readCase(typeof recorded === 'string' ? recorded : JSON.stringify(recorded), 'the text');
  return replayCase(one, termsOf(options)(one.root));
}

function termsOf(options: CaseOptions) {
  const registry = options.registry instanceof Registry ? options.registry : null;
  const own = [...(options.tools ?? []), ...(registry?.tools ?? [])];
  const profiles = namedProfiles(options, modelName);
  const known = { ...options, profiles, database: 'memory.db', model: 'test', models: {} };
  const sources: AgentSources = {
    ...{ options: known, own, profiles: profileMap(known, own) },
    subagents: registry?.subagents ?? null,
  };
  return ({ model, thinking, profile, toolsets, fixed }: CaseRoot): ReplayTerms => {
    const config = agentConfig(sources, { model, thinking, ...given({ profile }) });
    const { env = process.env, web = {} } = options;
    return {
      config: { ...config, toolsets, ...(fixed as object) },
      terms: agentTerms(sources),
      tools: [...createBuiltInTools({ web, env }), ...own],
    };
  };
}
