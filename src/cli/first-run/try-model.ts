import { Gate } from '../../models/gate/gate.ts';
import type { ProviderConfig } from '../../models/provider/provider-config.ts';
import { openModel } from '../../models/providers.ts';
import type { Failure } from '../../records/agent/failure.ts';
import type { Keys } from '../../settings/key-file.ts';

/** Settings that the first run has found, to be tried and then written. */
export interface Found {
  /** `provider/model`. */
  readonly model: string;
  readonly keys: Keys;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
}

export interface Known {
  readonly env: NodeJS.ProcessEnv;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
}

/** Sends one short request to the model, as an agent would. Null if it answered. Never rejects. */
export async function tryModel(found: Found, known: Known, signal: AbortSignal): Promise<Failure | null> {
  try {
    const model = await openModel(found.model, {
      providers: { ...known.providers, ...found.providers },
      env: { ...known.env, ...found.keys },
      // One attempt only: a person waits, and can try again.
      gates: new Map([[found.model, new Gate({ attempts: 1, patience_ms: 0 })]]),
    });
    const outcome = await model.stream(
      {
        system: 'You are being tested.',
        messages: [{ role: 'user', text: 'Reply with the word ready and nothing else.' }],
        tools: [],
        thinking: 'off',
        shared_prefix: 0,
        signal,
        agent: { id: 'setup', name: 'setup', parent_id: null },
      },
      () => undefined,
    );
    return outcome.type === 'failure' ? outcome.failure : null;
  } catch (error) {
    return {
      kind: 'no_model',
      error: error instanceof Error ? error.message : String(error),
      retryable: false,
    };
  }
}
