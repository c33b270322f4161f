import type { CommandBuilder } from '../start/command-builder.ts';
import type { TrustOptions } from './change-trust.ts';

/** `coppice profiles` and `coppice trust` */
export function addProfilesCommands({ sub, deferred }: CommandBuilder): void {
  sub('profiles', 'List profiles: built in, your own, and those of this folder').action(
    deferred(async (context) => (await import('./list-profiles.ts')).profiles(context), { local: true }),
  );
  sub('trust', 'Accept the agent files, instructions and skills of a folder, as they are now')
    .argument('[folder]', 'default: the working folder')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--revoke', 'stop trusting the folder')
    .action(
      deferred(
        async (context, folder: string | undefined, options: TrustOptions) =>
          (await import('./change-trust.ts')).trust(context, folder, options),
        { local: true },
      ),
    );
}
