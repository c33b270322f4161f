/** Loaded into a worker with `--import`: shifts its clock by `CHAOS_SKEW_MS`. */
const skew = Number(process.env.CHAOS_SKEW_MS ?? 0);
const real = Date.now;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, made) =>
    Reflect.construct(target, args.length === 0 ? [real() + skew] : args, made),
  get: (target, name) => (name === 'now' ? () => real() + skew : Reflect.get(target, name)),
});
