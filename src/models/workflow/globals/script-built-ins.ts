/**
 * Gives the interpreter our globals, and takes from it what would not be the same at every replay, and programs made from text. Like `installGlobals`, its text is run
 * inside the interpreter.
 */
export function provideGlobals(ours: Readonly<Record<string, unknown>>, seed: readonly number[]): void {
  const { defineProperty, entries, freeze, getPrototypeOf } = Object;
  const globals = globalThis as unknown as Record<string, unknown>;
  for (const [name, value] of entries(ours))
    defineProperty(globals, name, { value, writable: true, configurable: true, enumerable: false });
  // sfc32
  let [a = 0, b = 0, c = 0, counter = 0] = seed;
  const random = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };

  defineProperty(Math, 'random', { value: random, writable: true, configurable: true });

  // Clocks, and what depends on when memory is collected.
  for (const name of ['performance', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'DOMException'])
    delete globals[name];
  // Text is no program. Functions keep a constructor, which `instanceof` needs.
  for (const made of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    const prototype = getPrototypeOf(made);
    function refused() {
      throw new TypeError('a workflow script cannot make functions from text');
    }
    defineProperty(refused, 'prototype', { value: prototype });
    defineProperty(prototype, 'constructor', { value: refused });
    freeze(refused);
    if (prototype === Function.prototype) globals.Function = refused;
  }
  globals.eval = () => {
    throw new TypeError('a workflow script has no eval');
  };
}
