import fc from 'fast-check';

/** Bodies of scripts: combinators nested at random, with failures, throws, races, waits, clocks and random numbers. Each statement's outcome is part of the result. */
export const arbitraryBody: fc.Arbitrary<string> = fc
  .letrec<{ promise: string }>((tie) => {
    const promise = tie('promise');
    const some = fc.array(promise, { minLength: 1, maxLength: 3 });
    const thunks = some.map((list) => list.map((one) => `() => ${one}`).join(', '));
    const agent = fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom('', ", { onFailure: 'throw' }", ", { label: 'l' }"),
    );
    return {
      promise: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        agent.map(([prompt, options]) => `agent('${prompt}'${options})`),
        fc.constant("(async () => { throw new Error('thrown') })()"),
        fc.constant('sleep(1).then(() => Date.now())'),
        fc.constant("new Promise((done) => setTimeout(() => { log('timer'); done(1) }, 5))"),
        thunks.map((list) => `parallel([${list}])`),
        fc
          .tuple(some, fc.integer({ min: 0, max: 3 }))
          .map(
            ([stages, items]) =>
              `pipeline(${JSON.stringify(Array(items).fill('i'))}, ${stages.map((one) => `async (previous, item, index) => [index, await ${one}]`).join(', ')})`,
          ),
        fc.constant("workflow('inner')"),
        // A pool of two, as many scripts have one.
        thunks.map(
          (list) =>
            `(async (jobs) => { const got = []; let next = 0; const work = async () => { while (next < jobs.length) { const at = next++; got[at] = await jobs[at]() } }; await Promise.all([work(), work()]); return got })([${list}])`,
        ),
        some.map((list) => `Promise.race([${list.join(', ')}])`),
        some.map((list) => `Promise.any([${list.join(', ')}])`),
        some.map((list) => `Promise.allSettled([${list.join(', ')}])`),
        fc.tuple(promise, promise).map(([one, other]) => `(Math.random() < 0.5 ? ${one} : ${other})`),
        fc
          .tuple(promise, promise)
          .map(([one, other]) => `${one}.then((first) => first === null ? ${other} : first)`),
        promise.map(
          (one) =>
            `(async () => { const one = await ${one}; return agent('after ' + JSON.stringify(one).length + budget.spent()) })()`,
        ),
      ),
    };
  })
  .promise.chain((first) => fc.tuple(fc.constant(first)))
  .map(([promise]) => promise)
  .chain((promise) =>
    fc.constant(`outcomes.push(await Promise.resolve(${promise}).catch((error) => String(error)))`),
  )
  .map(
    (statement) =>
      `const outcomes = []\n${statement}\n${statement}\nreturn [outcomes, agent.failures().length, Math.random()]`,
  );
