import { isDeepStrictEqual } from 'node:util';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { hideSecrets } from '../../../records/text/hide-secrets.ts';
import type { Store } from '../../../store/store.ts';
import { recordTree } from './record-tree.ts';
import type { RecordedCase } from './recorded-case.ts';
import { type Divergence, type ReplayTerms, replayCase } from './replay-case.ts';

/** What a case says of the configuration of its root. */
export type CaseRoot = Pick<
  RecordedCase['root'],
  'model' | 'thinking' | 'profile' | 'toolsets' | 'cwd' | 'fixed'
>;

/** Names of variables whose values no case contains. */
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;

/**
 * Records a run that is over as a case, and proves by a replay that it can be replayed; that also adds what its models are sent. `today`:
 * what a root with this configuration gets. Values of variables of `env` whose names say that they are secret are hidden. Rejects with
 * `E_REFUSED` and the reason.
 */
export async function recordCase(
  store: Store,
  root_id: string,
  {
    version,
    env,
    today,
  }: { version: string; env: NodeJS.ProcessEnv; today: (root: CaseRoot) => ReplayTerms },
): Promise<RecordedCase> {
  const root = await store.agent(root_id);
  if (root === null) throw new CoppiceError('E_AGENT_NOT_FOUND', `there is no tree ${root_id}`);
  const { model, thinking, profile, toolsets, cwd } = root.config;
  const asked = {
    model,
    thinking,
    ...(profile === undefined ? {} : { profile }),
    toolsets: [...toolsets],
    cwd,
  };
  const { config } = today({ ...asked, fixed: {} });
  const fixed = Object.fromEntries(
    (['system', 'instructions', 'tools'] as const).flatMap((field) =>
      isDeepStrictEqual(config[field], root.config[field]) ? [] : [[field, root.config[field] ?? '']],
    ),
  );
  const whole = JSON.stringify(await recordTree(store, root_id, version, fixed));
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value !== undefined ? [value] : [],
  );
  const recorded: RecordedCase = JSON.parse(hideSecrets(whole, secrets, '[hidden]'));
  const { divergences, replayed } = await replayCase(recorded, today(recorded.root));
  const [first] = divergences;
  if (first === undefined) return replayed;
  throw new CoppiceError('E_REFUSED', 'this run cannot be recorded: a replay of it goes another way', {
    hint: divergenceText(first),
  });
}

/** Where a replay differs, in one line. */
export function divergenceText({ agent, request, what, recorded, now }: Divergence): string {
  const is = what === 'order' ? `instead of "${recorded}": ${now}` : `${what} differs`;
  return `${agent}, request ${request}: ${is}`;
}
