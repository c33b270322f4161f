import type { NewSessionResponse } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { AcpError } from './acp-failure.ts';

/** A session option offered by the program. */
interface Choice {
  readonly what: string;
  readonly value: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Programs without configuration options list their models here. */
const listedModels = z.object({
  models: z.object({ availableModels: z.array(z.object({ modelId: z.string() })) }),
});

/**
 * The request that selects the mode named `agent_id` for a new session, or else the option value or model of that name. Throws an AcpError that lists the
 * choices if there is none.
 */
export function choiceOf(
  agent_id: string,
  session: NewSessionResponse,
): { readonly method: string; readonly params: Readonly<Record<string, unknown>> } {
  const choices = choicesOf(session);
  const found = choices.find(({ value }) => value === agent_id);
  if (found !== undefined)
    return { method: found.method, params: { sessionId: session.sessionId, ...found.params } };
  const kinds = [...new Set(choices.map(({ what }) => what))];
  const listed = kinds.map((kind) => {
    const values = choices.filter(({ what }) => what === kind).map(({ value }) => value);
    return `${kind}: ${values.slice(0, 30).join(', ')}${values.length > 30 ? ', …' : ''}`;
  });
  const offer = listed.length === 0 ? 'it offers nothing to choose from' : `it offers ${listed.join('; ')}`;
  throw new AcpError('no_model', `the agent program has no mode or model "${agent_id}"; ${offer}`, false);
}

function choicesOf(session: NewSessionResponse): Choice[] {
  const modes = (session.modes?.availableModes ?? []).map(
    ({ id }): Choice => ({ what: 'modes', value: id, method: 'session/set_mode', params: { modeId: id } }),
  );
  const options = (session.configOptions ?? []).flatMap((option): Choice[] => {
    if (option.type !== 'select') return [];
    const values = option.options.flatMap((one) => ('options' in one ? one.options : [one]));
    return values.map(({ value }) => ({
      what: option.name,
      value,
      method: 'session/set_config_option',
      params: { configId: option.id, value },
    }));
  });
  const listed = listedModels.safeParse(session);
  const models = (listed.success ? listed.data.models.availableModels : []).map(
    ({ modelId }): Choice => ({
      what: 'models',
      value: modelId,
      method: 'session/set_model',
      params: { modelId },
    }),
  );
  return [...modes, ...options, ...models];
}
