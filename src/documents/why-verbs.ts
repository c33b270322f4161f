import type { DocumentOf } from './shapes/all-documents.ts';

/** How a step led to another one: what stands between who did it and the words. */
export const WHY_VERBS: Readonly<Record<DocumentOf<'coppice/why/v1'>['steps'][number]['how'], string>> = {
  asked: '',
  prompt: '',
  schedule: '',
  created: ' gave it the task',
  letter: ' wrote',
  end: ' ended with',
  file: ' wrote',
  call: '',
};
