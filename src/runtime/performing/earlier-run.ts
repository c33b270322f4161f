import { existsSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Need, NeedAnswer } from '../../kernel/toolsets/toolset.ts';
import { checkedValue, RecordedRun } from '../../models/workflow/recorded-run.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { failureOf, isTerminal } from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import type { Message, PlacedMessage } from '../../records/conversation/message.ts';
import { promptOf } from '../../records/conversation/prompt.ts';
import type { EarlierCall } from '../../records/workflow/earlier-call.ts';
import type { WorkflowTerms } from '../../records/workflow/workflow-terms.ts';
import type { Store } from '../../store/store.ts';

type Ledger = Pick<Store, 'agent' | 'agents' | 'history'>;
type EarlierNeed = Extract<Need, { type: 'earlier' }>;

/** What a run had for one call. */
interface Had {
  readonly value?: Extract<EarlierCall, { type: 'value' }>;
  readonly agent?: Agent;
}

interface EarlierRun {
  readonly terms: WorkflowTerms;
  readonly by_key: ReadonlyMap<string, Had>;
  /** By its name, a workflow within it that was run once. */
  readonly by_name: ReadonlyMap<string, Had | null>;
  /** The run from which it took results itself. */
  readonly before: () => Promise<EarlierRun | null>;
}

/** Calls of earlier runs that are kept in memory before others are read. */
const KEPT_MAX = 20_000;

/** Reads what earlier runs have (docs/workflows.md#rerun). A run that has ended does not change, so it is read once. */
export class EarlierRuns {
  readonly #store: Ledger;
  readonly #runs = new Map<string, () => Promise<EarlierRun | null>>();
  #kept = 0;

  constructor(store: Ledger) {
    this.#store = store;
  }

  /** `by`: the run that asks; `make`: a new worktree, for an agent that no run has. */
  async answer(need: EarlierNeed, by: string, make: () => Promise<NeedAnswer>): Promise<NeedAnswer> {
    const again = need.agent === undefined ? null : await this.#store.agent(need.agent);
    const had = again === null ? await this.#find(need.run, need.call) : { agent: again };
    const found = (call: EarlierCall | null) => ({ ok: true as const, text: JSON.stringify(call) });
    if (had?.value !== undefined) return found(had.value);
    const agent = had?.agent;
    if (agent?.config.workflow !== undefined) {
      const { seed, started_at } = agent.config.workflow;
      return found(need.call.name === '' ? null : { type: 'run', run: agent.id, seed, started_at });
    }
    const worktree = agent?.config.task?.worktree ?? null;
    const messages = agent === undefined ? [] : closed(await this.#store.history(agent.id));
    const began = messages.some(({ kind }) => kind === 'assistant');
    if (agent !== undefined && began && worktree !== null) {
      const fault = await this.#taken(agent, worktree, by);
      return fault === null
        ? { ...found({ type: 'unfinished', messages }), worktree }
        : { ok: false, error: fault };
    }
    if (began && agent !== undefined && (again === null ? wasKilled(agent) : canGoOn(agent)))
      return found({ type: 'unfinished', messages });
    if (need.worktree === null) return found(null);
    const made = await make();
    return made.ok ? { ...made, text: 'null' } : made;
  }

  /** Why nobody can go on in the worktree of an agent; null if its work can be continued. It may have been seen outside, so it is not done twice. */
  async #taken(
    { id, name, config: { cwd } }: Agent,
    { path, branch }: Worktree,
    by: string,
  ): Promise<string | null> {
    const what = `${name} began this in a worktree of its own (branch ${branch}) and is not run twice`;
    const anew = 'rerun with --fresh and its label runs it anew';
    // Agents whose work this one continued are older; all of them work in its folder.
    const continued = async () => {
      const all = await this.#store.agents({ cwd });
      const newest = all.find((one) => one.config.task?.worktree?.path === path);
      const other = `${what}: another run continues it (agent ${newest?.id}). Rerun that run; or ${anew}`;
      return newest === undefined || newest.id === id ? null : other;
    };
    const before = await continued();
    if (before !== null) return before;
    if (!existsSync(join(path, '.git'))) return `${what}: its folder is gone; ${anew}`;
    if (await this.#claims(path, by)) return continued();
    return `${what}: another run begins to continue it; ${anew}`;
  }

  /**
   * Whether this run may begin to work in the worktree: of two that begin at once, the first one to say so. A run that has ended since says nothing
   * any more, whether it had begun or not. What they say is in git's own folder of the worktree, and goes with it.
   */
  async #claims(path: string, by: string): Promise<boolean> {
    const git = resolve(path, readFileSync(join(path, '.git'), 'utf8').replace('gitdir:', '').trim());
    for (let claim = join(git, 'taken'); ; ) {
      try {
        // A link has its text from the beginning, unlike a file.
        symlinkSync(by, claim);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const taker = readlinkSync(claim);
      const run = await this.#store.agent(taker);
      if (taker === by || (run !== null && !isTerminal(run.state.type))) return taker === by;
      claim = join(git, `taken-${taker}`);
    }
  }

  /** A run that has not got to a call may itself take results from an earlier one, however many there are. */
  async #find(run_id: string, call: EarlierNeed['call']): Promise<Had | null> {
    for (let run = await this.#run(run_id)(); run !== null; run = await run.before()) {
      const had = run.by_key.get(call.key) ?? (call.name === '' ? null : run.by_name.get(call.name));
      if (had != null) return had;
      const { fresh = [] } = run.terms.reuses ?? {};
      if (fresh.includes(call.label) || (call.phase !== null && fresh.includes(call.phase))) return null;
    }
    return null;
  }

  #run(run_id: string): () => Promise<EarlierRun | null> {
    const known = this.#runs.get(run_id);
    if (known !== undefined) return known;
    if (this.#kept >= KEPT_MAX) {
      this.#runs.clear();
      this.#kept = 0;
    }
    const read = this.#reader(run_id, new Set());
    this.#runs.set(run_id, read);
    return read;
  }

  /** Reads a run when it is first asked for, and again only after a failure. `nearer`: keys of the runs that took results from it. */
  #reader(run_id: string | undefined, nearer: Set<string>): EarlierRun['before'] {
    let reading: Promise<EarlierRun | null> | undefined;
    return () => {
      reading ??= this.#read(run_id, nearer).catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      return reading;
    };
  }

  async #read(run_id: string | undefined, nearer: Set<string>): Promise<EarlierRun | null> {
    const terms = run_id === undefined ? undefined : (await this.#store.agent(run_id))?.config.workflow;
    if (run_id === undefined || terms === undefined) return null;
    const agents = new Map((await this.#store.agents({ parent_id: run_id })).map((one) => [one.id, one]));
    const recorded = new RecordedRun(terms.started_at, null);
    const { calls, entries } = recorded.next(promptOf(await this.#store.history(run_id)).messages());
    const results = new Map(entries.map((entry, place) => [entry.call, { entry, place }]));
    const by_key = new Map<string, Had>();
    const by_name = new Map<string, Had | null>();
    for (const { number, kind, key, prompt } of calls) {
      if (nearer.has(key)) continue;
      const agent = agents.get(recorded.started.get(number) ?? '');
      const { entry, place = entries.length } = results.get(number) ?? {};
      const from = { type: 'value', reused: agent?.id ?? run_id, place } as const;
      const had: Had = { ...(agent === undefined ? {} : { agent }) };
      if (kind !== 'workflow' && entry?.type === 'value')
        by_key.set(key, { value: { ...from, value: entry.value, now: entry.now } });
      // It has finished, and its run was ended before it was told.
      else if (kind !== 'workflow' && agent?.state.type === 'completed') {
        const { result } = agent.state;
        const value = recorded.checks(number, kind) ? checkedValue(result) : result;
        by_key.set(key, { value: { ...from, value, now: agent.ended_at ?? terms.started_at } });
      } else if (agent !== undefined || entry !== undefined) by_key.set(key, had);
      if (kind === 'workflow') by_name.set(prompt, by_name.has(prompt) ? null : had);
    }
    for (const key of by_key.keys()) nearer.add(key);
    this.#kept += by_key.size;
    return { terms, by_key, by_name, before: this.#reader(terms.reuses?.run, nearer) };
  }
}

function wasKilled({ state }: Agent): boolean {
  return state.type === 'killed' && state.failure === undefined;
}

/** Whether an agent that is run again keeps what it has done: after a failure that may pass, or in the middle of its work. */
function canGoOn({ state }: Agent): boolean {
  return failureOf(state)?.retryable ?? true;
}

const BROKEN_OFF =
  'Interrupted: the run of the workflow ended while this call ran. It may have happened in full, in part or not at all. Check before you repeat it.';

/** The conversation as another agent's own: each call has a result, and no file counts as read or changed by it. */
function closed(history: readonly PlacedMessage[]): Message[] {
  const open = new Map<string, string>();
  const messages = history.map(({ kind, content }): Message => {
    if (kind === 'assistant' && content.finish !== 'refused') {
      open.clear();
      for (const part of content.parts) if (part.type === 'call') open.set(part.id, part.name);
    }
    if (kind === 'result') {
      open.delete(content.call_id);
      const { file: _, ...told } = content;
      return { kind, content: told };
    }
    return { kind, content } as Message;
  });
  for (const [call_id, name] of open)
    messages.push({ kind: 'result', content: { call_id, name, status: 'interrupted', output: BROKEN_OFF } });
  return messages;
}
