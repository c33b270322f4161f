import { CoppiceError } from '../records/coppice-error.ts';
import { nameHint } from '../render/nearest-name.ts';
import { checkSettings } from '../settings/check-settings.ts';
import { settings } from '../settings/settings.ts';
import type { CoppiceOptions } from './coppice-options.ts';

/** What only a program can give, beside the settings. */
const OWN: Readonly<Record<Exclude<keyof CoppiceOptions, keyof typeof settings.shape>, true>> = {
  models: true,
  env: true,
  tools: true,
  registry: true,
  toolsets: true,
  profiles: true,
  builtInTools: true,
  cwd: true,
  permissions: true,
  limits: true,
  system: true,
  thinking: true,
};

/** What of the configuration file means nothing to a program. */
export const COMMAND_LINE_ONLY: Readonly<Record<string, string>> = {
  channels: 'coppice serve delivers to people and listens to them',
  keys: 'they are keys of the terminal UI',
};

/** Throws `E_CONFIG` for an option that there is none of, and for a setting that is not as in the configuration file. */
export function checkOptions(options: CoppiceOptions): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const known = [...Object.keys(settings.shape), ...Object.keys(OWN)];
  for (const [name] of given) {
    if (known.includes(name)) continue;
    const why = Object.hasOwn(COMMAND_LINE_ONLY, name) ? COMMAND_LINE_ONLY[name] : undefined;
    throw why === undefined
      ? new CoppiceError('E_CONFIG', `openCoppice has no option "${name}"`, {
          hint: nameHint(name, known, 'Options'),
        })
      : new CoppiceError('E_CONFIG', `openCoppice has no option "${name}": ${why}`);
  }
  checkSettings(
    settings,
    Object.fromEntries(given.filter(([name]) => Object.hasOwn(settings.shape, name))),
    'of openCoppice',
  );
}
