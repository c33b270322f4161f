import type { CommandBuilder } from '../start/command-builder.ts';

/** `coppice profiles` and `coppice trust` */
export function addProfilesCommands({ sub, imported }: CommandBuilder): void {
  sub('profiles', 'List profiles: built in, your own, and those of this folder').action(
    imported(async () => (await import('./list-profiles.ts')).profiles, { local: true }),
  );
  sub('trust', 'Accept the agent files, instructions and skills of a folder, as they are now')
    .argument('[folder]', 'default: the working folder')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--revoke', 'stop trusting the folder')
    .action(imported(async () => (await import('./change-trust.ts')).trust, { local: true }));
}
