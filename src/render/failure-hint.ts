import { type Failure, isAboutContent } from '../records/conversation/failure.ts';

/** What a person can do about a failure, in lines; none where its own text says it. `resume`: the command that resumes its tree. */
export function failureHint({ kind, retryable }: Failure, resume: string): string[] {
  const another = `Or with another model: ${resume} --model PROVIDER/MODEL`;
  if (kind === 'auth')
    return [`Check the key (coppice doctor names its variable), then: ${resume} --retry`, another];
  if (kind === 'no_credit') return [`Pay in at the provider, then: ${resume} --retry`, another];
  // A plain retry would hit the same limit.
  if (kind === 'limit' && retryable) return [`Go on with: ${resume} --limit NAME=N`];
  if (kind === 'refused') return [`Ask again: ${resume} --retry`, withoutLast(resume), another];
  if (isAboutContent(kind)) return [withoutLast(resume), another];
  if (kind === 'cut' || kind === 'empty') return [`Ask again: ${resume} --retry`, another];
  return retryable ? [`Go on with: ${resume} --retry`] : [];
}

function withoutLast(resume: string): string {
  return `Without the refused message (the newest, where none is named), which stays in the scrollback; again: one more: ${resume} --without-last`;
}
