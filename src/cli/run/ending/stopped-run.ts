import type { AgentDocument } from '../../../documents/shapes/agent-parts.ts';
import type { DocumentOf } from '../../../documents/shapes/all-documents.ts';
import { PATIENCE_MS } from '../../../models/refusals/spent.ts';
import { clean } from '../../../render/clean.ts';
import { printJson } from '../../setup/output.ts';
import { EXIT } from '../../start/exit-code.ts';

/** Tells how a run ended that was stopped, by a signal, its timeout, or (`by` an agent) because it only waits for a provider; returns the exit code. */
export function stoppedRun(
  as_json: boolean,
  root: Pick<AgentDocument, 'id' | 'last_reply'>,
  by: number | AgentDocument,
  next: string,
  denied: DocumentOf<'coppice/run/v1'>['denied'],
): number {
  const [timed_out, paused] = [by === EXIT.timeout, typeof by === 'number' ? null : by];
  const how = paused === null ? '' : ` (${HOW_ON[paused.paused?.spent ?? 'quota']})`;
  const why = paused?.outcome_text ?? (timed_out ? 'time is up' : 'stopped');
  if (as_json)
    printJson({
      schema: 'coppice/run/v1',
      id: root.id,
      outcome: paused?.outcome ?? 'stopped',
      outcome_text: paused?.outcome_text ?? (timed_out ? 'stopped: time is up' : 'stopped by a signal'),
      status: 'stopped',
      reply: root.last_reply,
      denied,
      error: {
        code: paused === null ? (timed_out ? 'timed_out' : 'interrupted') : 'paused',
        message: paused?.paused?.error ?? why,
        hint: next + how,
        retryable: true,
      },
    });
  process.stderr.write(`${clean(why)}; nothing is lost, ${next}${how}\n`);
  if (paused === null) return by as number;
  return paused.outcome === 'waiting_for_you' ? EXIT.no_credentials : EXIT.paused;
}

/** What a person does before the tree can go on. */
const HOW_ON = {
  quota: 'before that time with --retry, or with --model PROVIDER/MODEL',
  credit: 'once there is credit, or with --model PROVIDER/MODEL',
  key: 'once the key is right (coppice doctor names its variable; servers and workers that run keep the old one until they are started again), or with --model PROVIDER/MODEL',
  model: 'with --model PROVIDER/MODEL',
  service: 'before that time with --retry, or with --model PROVIDER/MODEL',
  person: 'from anywhere',
} as const;

/** Interval at which a run without a terminal checks whether it only waits for a provider. */
const LOOK_MS = 500;

/**
 * Resolves, where there is no terminal, to an agent that waits for a provider, once that is all that the tree still does. `tried`: agents that ask again
 * because of this process, each with the time at which something had last happened to it before: an older wait is not how they end.
 */
export function standstillOf(
  newest: ReadonlyMap<string, AgentDocument>,
  tried: ReadonlyMap<string, string> = new Map(),
): {
  readonly promise: Promise<AgentDocument>;
  readonly dispose: () => void;
} {
  const { promise, resolve } = Promise.withResolvers<AgentDocument>();
  let last: AgentDocument | undefined;
  const timer = setInterval(() => {
    const found = process.stderr.isTTY ? undefined : pausedIn([...newest.values()], tried);
    // Twice in a row: an agent may be about to go on.
    if (found !== undefined && found === last) resolve(found);
    last = found;
  }, LOOK_MS).unref();
  return { promise, dispose: () => clearInterval(timer) };
}

/** The first agent that waits for a provider, if that is all that the tree still does, and longer than a process should wait; else undefined. */
function pausedIn(
  agents: readonly AgentDocument[],
  tried: ReadonlyMap<string, string>,
): AgentDocument | undefined {
  const paused = agents.filter((agent) => agent.paused !== null);
  const ends_soon = paused.some(({ paused: pause }) => {
    const is_near = pause?.tries === 0 || pause?.spent === 'service';
    // One whose time has come is asking.
    return Date.parse(pause?.until ?? '') - Date.now() < (is_near ? PATIENCE_MS : 0);
  });
  const by_id = new Map(agents.map((agent) => [agent.id, agent]));
  // What is asked below a run that a person has stopped can be answered without this process, and nothing comes of it before the run goes on.
  const isHeld = (agent: AgentDocument): boolean => {
    const above = by_id.get(agent.parent_id ?? '');
    return agent.paused?.spent === 'person' || (above !== undefined && isHeld(above));
  };
  const goes_on = agents.some(
    (agent) =>
      agent.outcome === 'working' ||
      tried.get(agent.id) === agent.updated_at ||
      (agent.outcome === 'waiting_for_you' && agent.paused === null && !isHeld(agent)),
  );
  return ends_soon || goes_on ? undefined : paused[0];
}
