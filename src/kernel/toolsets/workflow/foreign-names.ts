import type { Agent } from '../../../records/agent/agent.ts';
import type { ToolsetTerms } from '../toolset-terms.ts';

/** What scripts call models and kinds of agents. They are written for other programs, too: an unknown name is told of, and no reason to fail. */

/** A name without a provider, such as `sonnet`, is no model of ours. */
const WITHOUT_PROVIDER = /^(?!scripted:|acp:)[\w.:-]{1,60}$/;

type Known = Pick<ToolsetTerms, 'profiles' | 'subagents'>;

/** The model that is meant; null if it is the creator's. Of a name without a provider, the first known model that has it as a word. */
export function meantModel(
  wanted: string | undefined,
  { config }: Pick<Agent, 'config'>,
  { profiles, subagents }: Known,
): string | null {
  if (wanted === undefined || wanted === 'inherit') return null;
  if (!WITHOUT_PROVIDER.test(wanted)) return wanted;
  const of_profiles = [...profiles.values()].flatMap(({ model }) => model ?? []);
  const known = [config.model, ...of_profiles, ...(subagents.models ?? [])];
  const words = (model: string) => model.split(/[^a-z\d]+/i);
  return (
    known.find((one) => one === wanted || one.endsWith(`/${wanted}`)) ??
    known.find((one) => !one.endsWith('*') && words(one).includes(wanted)) ??
    null
  );
}

/** The profile that is meant, as `explore` by `Explore`; null if there is none. */
export function meantProfile(wanted: string | undefined, { profiles }: Known): string | null {
  return [wanted, wanted?.toLowerCase()].find((one) => one !== undefined && profiles.has(one)) ?? null;
}

/** What is to be told of names that mean nothing here; null if there is nothing. */
export function unknownNames(
  { agentType, model }: { readonly agentType?: string | undefined; readonly model?: string | undefined },
  self: Pick<Agent, 'config'>,
  terms: Known,
): string | null {
  const kinds = [...terms.profiles.keys()].join(', ') || 'none';
  const is_other = model !== undefined && model !== 'inherit' && meantModel(model, self, terms) === null;
  const notes = [
    ...(agentType === undefined || meantProfile(agentType, terms) !== null
      ? []
      : [`agentType "${agentType}" is no profile here, so the agent has none. Profiles: ${kinds}`]),
    ...(is_other ? [`no model here is called "${model}", so the agent has its usual model`] : []),
  ];
  return notes.length === 0 ? null : notes.join('; ');
}
