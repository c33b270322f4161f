import type { Answers, HiddenLimits } from './hidden-server.ts';

export interface Shape {
  readonly name: string;
  readonly limits: HiddenLimits;
  readonly answers: Answers;
  /** Requests in all. */
  readonly count: number;
  /** Processes that share the limits; these start so long after one another. */
  readonly gates?: number;
  readonly apart_ms?: number;
  /** Requests that are ready at once: each agent sends its next when it has an answer. Without it all are. */
  readonly agents?: number;
  /** Limits that change in the middle. */
  readonly change?: { readonly at: number; readonly to: HiddenLimits };
}

/** The numbers of a set of shapes. */
interface Numbers {
  /** Requests a minute: much, the middle, little. */
  readonly a_minute: readonly [number, number, number];
  readonly a_second: readonly [number, number];
  /** Requests of a short window, and its length. */
  readonly short: readonly [number, number];
  readonly burst: number;
  readonly tokens: number;
  readonly gates: number;
  readonly apart_ms: number;
  readonly at_once: readonly [number, number, number];
  readonly answer_ms: number;
  readonly long_ms: number;
  readonly change_at: number;
}

const MINUTE = 60_000;

/** Servers of every kind with these numbers: what they limit, how, and what they say of it. */
function shapesOf(numbers: Numbers): readonly Shape[] {
  const { a_minute, a_second, short, burst, tokens, gates, at_once, answer_ms } = numbers;
  const [much, middle, little] = a_minute;
  const few = Math.min(middle, tokens / 1_000);
  const shapes: Shape[] = [];
  const add = (name: string, limits: HiddenLimits, count: number, more: Partial<Shape> = {}) => {
    const answers = { first_token_ms: answer_ms / 4, answer_ms: (answer_ms * 3) / 4, spread: 1 };
    shapes.push({ name, limits, count, answers, ...more });
  };
  const lasting = (ms: number) => ({ first_token_ms: ms / 4, answer_ms: (ms * 3) / 4, spread: 1 });
  const varying = { ...lasting(answer_ms), token_spread: 1 };
  for (const tells of ['nothing', 'retry-after', 'headers'] as const) {
    for (const form of ['bucket', 'window', 'sliding'] as const) {
      add(`${much} a minute, ${form}, ${tells}`, { requests: much, form, tells }, much * 8);
      add(`${middle} a minute, ${form}, ${tells}`, { requests: middle, form, tells }, middle * 15);
      add(`${little} a minute, ${form}, ${tells}`, { requests: little, form, tells }, little * 20);
      for (const each of a_second)
        add(
          `${each} a second, ${form}, ${tells}`,
          { requests: each, period_ms: 1_000, form, tells },
          each * 300,
        );
    }
    const second = { requests: a_second[0], period_ms: 1_000 };
    add(`${a_second[0]} a second one by one, ${tells}`, { ...second, burst: 1, tells }, a_second[0] * 300);
    add(`${middle} a minute, burst ${burst}, ${tells}`, { requests: middle, burst, tells }, middle * 15);
    const [requests, period_ms] = short;
    add(
      `${requests} in ${period_ms / 1_000} s, window, ${tells}`,
      { requests, period_ms, form: 'window', tells },
      requests * 50,
    );
    for (const form of ['bucket', 'window'] as const)
      add(`${tokens} tokens a minute, ${form}, ${tells}`, { tokens, form, tells }, (tokens / 1_000) * 15, {
        answers: varying,
      });
    const all = { requests: middle, tokens: few * 800, at_once: at_once[1], tells };
    add(`all three, ${tells}`, all, Math.round(few * 6.5));
    for (const form of ['bucket', 'window'] as const) {
      const limits: HiddenLimits = { requests: middle, form, tells };
      add(`${gates} processes, ${form}, ${tells}`, limits, middle * 15, { gates });
      const to = { ...limits, requests: middle * 2 };
      const at = numbers.change_at;
      add(`doubles, ${form}, ${tells}`, limits, middle * 15, { change: { at, to } });
    }
    const { apart_ms } = numbers;
    const bucket = { requests: middle, tells };
    add(`${gates} processes one after another, ${tells}`, bucket, middle * 15, { gates, apart_ms });
    const to = { ...bucket, requests: middle / 2 };
    add(`halves, ${tells}`, bucket, Math.round(middle * 7.5), { change: { at: numbers.change_at, to } });
    const answers = lasting(answer_ms * 2);
    const agents = (share: number) => Math.round((share * middle * answer_ms * 2) / MINUTE);
    add(`agents enough for it twice, ${tells}`, bucket, middle * 10, { agents: agents(2), answers });
    const window: HiddenLimits = { ...bucket, form: 'window' };
    add(`agents enough for a window seven times, ${tells}`, window, middle * 10, {
      ...{ agents: agents(7), answers },
    });
  }
  for (const each of at_once) add(`${each} at once`, { at_once: each }, each * 150);
  const [, each] = at_once;
  add(`${each} at once, answers vary much`, { at_once: each }, each * 200, {
    answers: { ...lasting(answer_ms), spread: 2.5 },
  });
  add(`${each} at once, said`, { at_once: each, text: 'too many concurrent requests' }, each * 200);
  add(`${each} at once, long answers`, { at_once: each }, each * 100, { answers: lasting(numbers.long_ms) });
  add(`${gates} processes, ${each} at once`, { at_once: each }, each * 200, { gates });
  add('2 % too much to do', { overloaded: 0.02 }, 6_000, {
    ...{ agents: 300, answers: { ...lasting(answer_ms), spread: 0 } },
  });
  return shapes;
}

/** The numbers of the gate were set by hand on these. */
export const TUNED: readonly Shape[] = [
  ...shapesOf({
    ...{ a_minute: [4_000, 600, 60], a_second: [10, 20], short: [50, 10_000], burst: 20, tokens: 300_000 },
    ...{ gates: 4, apart_ms: 20_000, at_once: [5, 20, 100], answer_ms: 1_300, long_ms: 10_000 },
    change_at: 240_000,
  }),
  ...shapesOf({
    ...{ a_minute: [1_500, 240, 25], a_second: [4, 35], short: [120, 15_000], burst: 7, tokens: 120_000 },
    ...{ gates: 3, apart_ms: 9_000, at_once: [3, 12, 60], answer_ms: 4_000, long_ms: 25_000 },
    change_at: 200_000,
  }),
];

/** Nothing was set on these: they show what the gate does with servers that it was not made for. */
export const HELD_OUT: readonly Shape[] = shapesOf({
  ...{ a_minute: [2_500, 400, 40], a_second: [7, 50], short: [30, 5_000], burst: 12, tokens: 200_000 },
  ...{ gates: 2, apart_ms: 14_000, at_once: [4, 9, 40], answer_ms: 2_500, long_ms: 15_000 },
  change_at: 170_000,
});
