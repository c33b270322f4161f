import { DEFAULT_LIMITS, isLimit, LIMIT_BOUNDS, type Limits } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { nameHint } from '../../render/nearest-name.ts';

/** The limits of a tree. What is not said stays, in a new tree by default; what could not be compared would limit nothing, so it is refused. */
export function checkedLimits(said: Partial<Limits> = {}, others: Limits = DEFAULT_LIMITS): Limits {
  const limits: Record<string, number | null> = { ...others };
  for (const [name, value] of Object.entries(said) as [keyof Limits, number | null | undefined][]) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name))
      throw new CoppiceError('E_INVALID_ARGUMENT', `no limit called "${name}"`, {
        hint: nameHint(name, Object.keys(DEFAULT_LIMITS), 'Limits'),
      });
    if (value === undefined) continue;
    if (!isLimit(name, value))
      throw new CoppiceError('E_INVALID_ARGUMENT', `${String(value)} is no value for the limit ${name}`, {
        hint: `Give a number of at least ${LIMIT_BOUNDS[name].least}`,
      });
    limits[name] = value;
  }
  return limits as unknown as Limits;
}
