type Fields = Record<string, unknown>;
/** Takes the result of a call. */
export type Settle = (entry: { type: string; value?: unknown; reason?: string }) => void;

/** What `installGlobals` makes calls with. */
export interface CallTools {
  readonly call: <T>(
    kind: string,
    prompt: string,
    options: Fields,
    settle: (done: (value: T) => void, failed: (error: Error) => void) => Settle,
    shown?: Fields,
  ) => Promise<T>;
  readonly orThrow: (
    what: string,
  ) => (done: (value: unknown) => void, failed: (error: Error) => void) => Settle;
  /** The value as JSON. */
  readonly copy: (value: unknown, what: string) => unknown;
  readonly shown: (values: readonly unknown[]) => string;
  readonly filled: (value: unknown) => boolean;
  readonly must: (good: boolean, words: string) => void;
  readonly notice: (words: string) => void;
  readonly nested: boolean;
}

/** Makes the calls that are no agents. Like `installGlobals`, its text is run inside the interpreter, before the script, so it uses nothing from outside. */
export function makeOtherCalls({ call, copy, filled, must, notice, orThrow, shown, nested }: CallTools) {
  const workflow = async (which: unknown, args?: unknown) => {
    const path = typeof which === 'object' && which !== null ? (which as Fields).scriptPath : undefined;
    const name = path ?? which;
    must(filled(name), 'workflow() needs a name or { scriptPath }');
    if (nested) throw new Error('workflow(): a workflow within a workflow starts no other');
    const options: Fields = path === undefined ? {} : { script_path: path };
    const given = copy(args, 'workflow(): args');
    if (given !== undefined) options.args = given;
    return call('workflow', name as string, options, orThrow(`workflow ${name}`));
  };

  const ask = async (question: unknown, given: Fields = {}) => {
    must(filled(question), 'ask() needs a question, a text');
    const { choices, schema, ...others } = copy(given ?? {}, 'ask()') as Fields;
    must(
      choices === undefined || (Array.isArray(choices) && choices.length > 0 && choices.every(filled)),
      'ask(): choices must be a list of texts',
    );
    must(
      schema === undefined || (typeof schema === 'object' && !Array.isArray(schema)),
      'ask(): schema must be a JSON Schema',
    );
    for (const name of Object.keys(others)) notice(`ask(): there is no option "${name}"`);
    return call('ask', question as string, copy({ choices, schema }, 'ask()') as Fields, orThrow('ask'));
  };
  const notify = async (message: unknown) =>
    call('notify', shown([message]), {}, (done: (value: undefined) => void) => () => done(undefined));
  const ended =
    (done: (value: undefined) => void): Settle =>
    () =>
      done(undefined);
  const sleep = async (seconds: unknown) => {
    must(Number.isFinite(seconds) && (seconds as number) >= 0, 'sleep() needs a number of seconds');
    return call('sleep', '', { seconds }, ended);
  };
  const until = async (instant: unknown) => {
    const at = new Date(instant as string);
    must(
      Number.isFinite(at.getTime()),
      'until() needs an instant: a Date, a text such as 2026-12-01T09:00:00Z, or milliseconds since 1970',
    );
    return call('until', '', { at: at.toISOString() }, ended);
  };
  return { ask, notify, sleep, until, workflow };
}
