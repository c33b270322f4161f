import type { Call } from '../core/state.ts';

/** The arguments of a call as JSON; no text at all counts as an empty object, as providers send it. */
export function parseCallInput(
  call: Pick<Call, 'name' | 'input'>,
): { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly error: string } {
  if (call.input.trim() === '') return { ok: true, input: {} };
  try {
    return { ok: true, input: JSON.parse(call.input) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, error: `the arguments of ${call.name} are not valid JSON: ${reason}` };
  }
}
