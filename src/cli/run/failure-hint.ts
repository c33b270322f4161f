import { type Failure, isAboutContent } from '../../records/agent/failure.ts';

/** A failure as documents of agents have it. */
export type ShownFailure = Pick<Failure, 'kind' | 'retryable'> & { readonly message: string };

/** The limit that a text names, twice as high, so that a command with it works as it stands. */
export function raisedLimit(text: string): string {
  const [, turns] = /(\d+) model requests? in one turn/.exec(text) ?? [];
  const [, run = 1800] = /run time of ([\d.]+) s/.exec(text) ?? [];
  return turns === undefined ? `run=${2 * Number(run)}s` : `turns=${2 * Number(turns)}`;
}

/** Returns lines on what a person can do about a failure; none where its own text says it. `resume`: the command that resumes its tree. */
export function failureHint({ kind, retryable, message }: ShownFailure, resume: string): string[] {
  const another = `Or with another model: ${resume} --model PROVIDER/MODEL`;
  if (kind === 'auth')
    return [`Check the key (coppice doctor names its variable), then: ${resume} --retry`, another];
  if (kind === 'no_model') return [another];
  if (kind === 'no_tools')
    return [
      `Start the server with tools (vLLM: --enable-auto-tool-choice), or leave out the tool that it names, then: ${resume} --retry`,
      another,
    ];
  if (kind === 'no_credit') return [`Add credit at the provider, then: ${resume} --retry`, another];
  // A plain retry would hit the same limit.
  if (kind === 'limit' && retryable) return [`Continue with: ${resume} --limit NAME=N`];
  if (kind === 'timed_out') return [`With more time: ${resume} --retry --limit ${raisedLimit(message)}`];
  if (kind === 'refused') return [`Ask again: ${resume} --retry`, withoutLast(resume), another];
  if (isAboutContent(kind)) return [withoutLast(resume), another];
  if (kind === 'cut' || kind === 'empty') return [`Ask again: ${resume} --retry`, another];
  if (kind === 'network' && !retryable) return [`Once that is set right: ${resume} --retry`, another];
  return retryable ? [`Continue with: ${resume} --retry`] : [];
}

function withoutLast(resume: string): string {
  return `Continue without the rejected message (the newest one if none is named), which stays in the scrollback; repeat to leave out one more: ${resume} --without-last`;
}
