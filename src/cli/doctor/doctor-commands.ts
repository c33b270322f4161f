import type { CommandBuilder } from '../start/command-builder.ts';

/** `coppice doctor` */
export function addDoctorCommand({ sub, imported }: CommandBuilder): void {
  sub('doctor', 'Check what is configured and what is missing').action(
    imported(async () => (await import('./doctor.ts')).doctor, { local: true }),
  );
}
