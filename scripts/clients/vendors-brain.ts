import type { Answer, Exchange } from '../../test/servers/brain.ts';

const USAGE = { input: 1_000, output: 100 };

/** Model of a root that gives a task to each of these names, and of all its children, including programs. */
export class VendorsBrain {
  /** Number of requests from programs, by the name in their task. */
  readonly asked = new Map<string, number>();
  /** Name that gets no answer. */
  silent: string | null = null;
  /** Until a request for this name has come, no child gets an answer. */
  waitsFor: string | null = null;
  readonly #names: readonly string[];
  #waiting: (() => void)[] = [];

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  async answer({ messages, body }: Exchange): Promise<Answer> {
    const users = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
    if (users.some((text) => text.includes('TRIAL'))) {
      const tasks = this.#names.map((one) => ({ task: `TASK of ${one}`, label: one, profile: one }));
      const outcomes = users.find((text) => text.includes('sub_agent_results'));
      if (outcomes !== undefined) return { text: `COLLECTED ${outcomes}`, usage: USAGE };
      if (messages.some(({ results }) => results.length > 0)) return { text: 'I wait.', usage: USAGE };
      return { calls: [{ name: 'spawn_agents', input: { tasks } }], usage: USAGE };
    }
    const name = users.map((text) => /TASK of (\w+)/.exec(text)?.[1]).findLast((one) => one !== undefined);
    // Requests for titles and the like offer no tools.
    if (name === undefined || !hasTools(body)) return { text: 'A title', usage: { input: 0, output: 0 } };
    if (offersSubmission(body)) {
      await this.#turn(name);
      return { calls: [{ name: 'submit_result', input: { result: `did ${name}` } }], usage: USAGE };
    }
    this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
    await this.#turn(name);
    return { text: `did ${name}`, usage: USAGE };
  }

  async #turn(name: string): Promise<void> {
    if (this.waitsFor === name) {
      this.waitsFor = null;
      for (const go of this.#waiting) go();
    }
    if (this.silent === name) await new Promise(() => undefined);
    if (this.waitsFor !== null) await new Promise<void>((go) => this.#waiting.push(go));
  }
}

function hasTools({ tools }: Exchange['body']): boolean {
  return Array.isArray(tools) && tools.length > 0;
}

/** Whether `submit_result` is offered, which only Coppice's own agents have. */
function offersSubmission(body: Exchange['body']): boolean {
  return JSON.stringify(body.tools ?? []).includes('"submit_result"');
}
