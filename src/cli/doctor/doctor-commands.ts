import type { CommandBuilder } from '../start/command-builder.ts';

/** `coppice doctor` */
export function addDoctorCommand({ sub, deferred }: CommandBuilder): void {
  sub('doctor', 'Check what is configured and what is missing').action(
    deferred(async (context) => (await import('./doctor.ts')).doctor(context), { local: true }),
  );
}
