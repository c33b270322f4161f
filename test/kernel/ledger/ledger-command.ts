import fc from 'fast-check';

/** A number that picks an existing agent, which may have ended. */
const which = fc.nat({ max: 30 });
const inner = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      type: fc.constant('grow' as const),
      who: which,
      count: fc.integer({ min: 1, max: 3 }),
      spawn: fc.boolean(),
      point: which,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('say' as const), who: which, count: fc.nat({ max: 3 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('send' as const),
      who: which,
      to: which,
      count: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('take' as const),
      who: which,
      letter: which,
      foreign: fc.integer({ min: 0, max: 5 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      who: which,
      targets: fc.array(which, { maxLength: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('end' as const), who: which }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cut' as const), who: which, target: which }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('stale' as const), who: which, epoch: fc.boolean() }),
  },
);
export type Inner = typeof inner extends fc.Arbitrary<infer T> ? T : never;

export const command = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('commit' as const),
      steps: fc.array(inner, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('human' as const), to: which }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('kill' as const), who: which }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('takeover' as const), tree: which }) },
);
export type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;
