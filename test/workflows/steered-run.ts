import { closeLater } from '../close-opened.ts';
import type { Answer, Exchange } from '../servers/brain.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import { until } from '../until.ts';
import { type WorkflowHome, workflowHome } from './run-workflow.ts';

/** A home whose agents ask a real server: `say X` is answered with X, `hold X` with X once it is let go, `flaky X` likewise from the second time on, and with a failure before, `run COMMAND` runs the command and says `ran`, and `listen X` waits for a message with X and says what it was told. */
export async function steeredHome(configuration: object = {}, terms: object = {}) {
  const asked = new Map<string, number>();
  const held = new Map<string, () => void>();
  const free = new Set<string>();
  const answerOf = async (exchange: Exchange): Promise<Answer> => {
    const { messages } = exchange;
    const prompt = (messages.find(({ role }) => role === 'user')?.text ?? '').split('\n')[0] as string;
    asked.set(prompt, (asked.get(prompt) ?? 0) + 1);
    const [, verb, what = ''] = /^(say|hold|flaky|run|fail|listen) ?(.*)/.exec(prompt) ?? [];
    if (verb === 'fail') return { fault: { status: 400, message: 'it cannot be' } };
    if (verb === 'run') {
      const done = messages.findLast(({ role }) => role === 'results');
      return done === undefined
        ? { calls: [{ name: 'bash', input: { command: what } }] }
        : { text: `ran: ${done.results[0]?.output}` };
    }
    if (verb === 'listen') {
      const told = messages.slice(1).flatMap(({ role, text }) => (role === 'user' ? [text] : []));
      return told.some((text) => text.includes(what))
        ? { text: told.join(', ') }
        : { calls: [{ name: 'bash', input: { command: 'sleep 0.2' } }] };
    }
    if ((verb === 'hold' || verb === 'flaky') && !free.has(what))
      await new Promise<void>((resolve) => held.set(what, resolve)).finally(() => held.delete(what));
    if (verb === 'flaky' && asked.get(prompt) === 1) return { fault: { status: 400, message: 'not now' } };
    return { text: what };
  };
  const server = await startOpenAiChatServer({ answer: answerOf });
  closeLater(() => server.close());
  const provider = { type: 'openai-compatible', baseURL: `${server.url}/v1` };
  const own: WorkflowHome = workflowHome([], {
    model: 'one/any',
    providers: { one: { ...provider, apiKeyEnv: 'ONE', ...terms } },
    ...configuration,
  });
  own.env.ONE = 'key';
  return {
    ...own,
    server,
    /** How often each prompt was asked. */
    asked,
    total: () => [...asked.values()].reduce((sum, times) => sum + times, 0),
    isHeld: (what: string) => until(() => held.has(what), `the request "hold ${what}"`),
    /** Answers it now, and later ones at once. */
    letGo(what: string) {
      free.add(what);
      held.get(what)?.();
    },
    /** The run of this name, as `workflow show` tells it. */
    show: (run: string) => own.json('workflow', 'show', run) as unknown as Promise<ShownRun>,
  };
}

interface ShownRun {
  readonly id: string;
  readonly outcome: string;
  readonly outcome_text: string;
  readonly counts: Record<string, number>;
  readonly agents?: readonly { id: string; label: string; outcome_text: string }[];
}
