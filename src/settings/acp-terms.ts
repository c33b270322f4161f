import type { AcpTerms } from '../models/acp/open-acp-model.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { Store } from '../store/store.ts';
import { programSandbox } from './sandbox-of.ts';
import type { Settings } from './settings.ts';

/** The agent programs of the configuration, each behind its walls. */
export function acpTerms(
  { acp = {}, sandbox }: Pick<Settings, 'acp' | 'sandbox'>,
  env: NodeJS.ProcessEnv,
  ledger: Pick<Store, 'kind' | 'location'> | null,
): AcpTerms {
  return {
    programs: acp,
    servers: new Map(),
    async wallsOf(name, config) {
      const { programNeeds } = await import('../models/acp/program-needs.ts');
      const needs = programNeeds(config);
      const walls = programSandbox(sandbox, needs, env, ledger, `acp.${name}`);
      if (walls === null || needs.hosts !== undefined) return walls;
      throw new CoppiceError(
        'E_CONFIG',
        `acp.${name} runs behind the walls of the sandbox, and nothing says what ${config.command} must reach`,
        {
          hint: `Add to acp.${name} its server, "hosts": ["api.example.com"] ([] for none), and where it keeps its login and sessions, "writable": ["~/.example"]; or give it all your rights with "sandbox": "off" (docs/acp.md)`,
        },
      );
    },
  };
}
