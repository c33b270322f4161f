import assert from 'node:assert/strict';
import type { Refusal, Step } from '../../../src/kernel/step.ts';
import type { Limits } from '../../../src/records/agent/limits.ts';
import { isTerminal, type StateType } from '../../../src/records/agent/state.ts';
import { type MailKind, type NewMail, WAKING_MAIL } from '../../../src/records/conversation/mail.ts';
import type { NewAgent } from '../../../src/records/run/new-agent.ts';

export interface ModelLetter {
  readonly id: string;
  readonly kind: MailKind;
  consumed_seq: number | null;
}

export interface ModelAgent {
  readonly id: string;
  readonly root_id: string;
  readonly parent_id: string | null;
  readonly origin: string;
  readonly depth: number;
  readonly forked_from: { readonly agent_id: string; readonly seq: number } | null;
  type: StateType;
  epoch: number;
  /** The agent's own messages as text, starting at the seq after its fork point. */
  readonly own: string[];
  readonly mail: ModelLetter[];
  waits: readonly string[];
  waits_until: Step['waits_until'];
}

type Verdict = 'accepted' | Refusal['reason'];

/** A minimal model of the contract in `store.ts`: no clock, no disk, every query a walk over the agents. */
export class LedgerModel {
  readonly agents = new Map<string, ModelAgent>();
  readonly limits: Limits;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  get(id: string): ModelAgent {
    return this.agents.get(id) as ModelAgent;
  }

  lastSeq({ forked_from, own }: ModelAgent): number {
    return (forked_from?.seq ?? 0) + own.length;
  }

  members(root_id: string): ModelAgent[] {
    return [...this.agents.values()].filter((agent) => agent.root_id === root_id);
  }

  living(agents: readonly ModelAgent[]): ModelAgent[] {
    return agents.filter((agent) => !isTerminal(agent.type));
  }

  /** The agents that work, or have unread mail that wakes them. */
  busy(agents: readonly ModelAgent[]): ModelAgent[] {
    return this.living(agents).filter(
      ({ type, mail }) =>
        (type !== 'idle' && type !== 'errored') ||
        mail.some(({ kind, consumed_seq }) => WAKING_MAIL.has(kind) && consumed_seq === null),
    );
  }

  children(parent_id: string): ModelAgent[] {
    return [...this.agents.values()].filter((agent) => agent.parent_id === parent_id);
  }

  /** The agent and its ancestors, starting with the agent. */
  lineage(agent: ModelAgent): ModelAgent[] {
    return agent.parent_id === null ? [agent] : [agent, ...this.lineage(this.get(agent.parent_id))];
  }

  subtree(agent: ModelAgent): ModelAgent[] {
    return [agent, ...this.children(agent.id).flatMap((child) => this.subtree(child))];
  }

  /** The conversation of an agent, oldest first. */
  history(agent: ModelAgent): string[] {
    const { forked_from } = agent;
    const inherited = forked_from === null ? [] : this.history(this.get(forked_from.agent_id));
    return [...inherited.slice(0, forked_from?.seq ?? 0), ...agent.own];
  }

  add({ agent, messages }: NewAgent): void {
    this.agents.set(agent.id, {
      ...agent,
      type: agent.state.type,
      epoch: 1,
      own: messages.map((message) => JSON.stringify(message.content)),
      mail: [],
      waits: [],
      waits_until: {},
    });
  }

  apply(step: Step): Verdict {
    const agent = this.agents.get(step.agent_id);
    const stale = agent === undefined || isTerminal(agent.type) || agent.epoch !== step.epoch;
    if (stale || this.lastSeq(agent) !== step.base_seq) return 'stale';
    if (this.#overLimits(agent, step.create.length)) return 'limit';
    if (step.send.some((mail) => !this.#reachable(mail, agent.root_id))) return 'recipient';
    const pending = agent.mail.filter((letter) => letter.consumed_seq === null).map((letter) => letter.id);
    if (step.consume.some(({ mail_id }) => !pending.includes(mail_id))) return 'consumed';
    // A target that is already waited for, until the same time, closes no new cycle.
    const isNew = (id: string) => !agent.waits.includes(id) || agent.waits_until[id] !== step.waits_until[id];
    if ((step.waits_for ?? []).some((id) => isNew(id) && this.reaches(id, agent.id, step.waits_until[id])))
      return 'cycle';
    const below = this.subtree(agent)
      .slice(1)
      .map(({ id }) => id);
    if (step.kill.some((id) => !below.includes(id))) return 'target';
    this.#write(agent, step);
    return 'accepted';
  }

  #overLimits(agent: ModelAgent, created: number): boolean {
    if (created === 0) return false;
    const members = this.members(agent.root_id);
    return (
      agent.depth + 1 > this.limits.depth ||
      this.busy(this.children(agent.id)).length + created > this.limits.children ||
      this.busy(members).length + created > this.limits.live ||
      members.length + created > this.limits.total
    );
  }

  #reachable(mail: NewMail, root_id: string): boolean {
    const to = this.agents.get(mail.to_id);
    return to !== undefined && to.root_id === root_id && !isTerminal(to.type);
  }

  /** Whether waits that last at least until `until` lead from `from` to `to`. */
  reaches(from: string, to: string, until = Number.POSITIVE_INFINITY, seen = new Set<string>()): boolean {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    const { waits = [], waits_until = {} } = this.agents.get(from) ?? {};
    return waits.some(
      (next) =>
        (waits_until[next] ?? Number.POSITIVE_INFINITY) >= until && this.reaches(next, to, until, seen),
    );
  }

  #write(agent: ModelAgent, step: Step): void {
    agent.own.push(...step.messages.map((message) => JSON.stringify(message.content)));
    agent.type = step.state.type;
    for (const child of step.create) this.add(child);
    for (const { mail_id, seq } of step.consume) {
      const letter = agent.mail.find(({ id }) => id === mail_id) as ModelLetter;
      assert.equal(letter.consumed_seq, null, 'law 6: consumed once');
      letter.consumed_seq = seq;
    }
    for (const mail of step.send) this.deliver(mail);
    if (step.waits_for !== null) [agent.waits, agent.waits_until] = [step.waits_for, step.waits_until];
    if (isTerminal(agent.type)) agent.waits = [];
    for (const id of step.kill) this.kill(id, agent.id);
  }

  deliver({ id, to_id, kind }: Pick<NewMail, 'id' | 'to_id' | 'kind'>): void {
    this.get(to_id).mail.push({ id, kind, consumed_seq: null });
  }

  /** Returns the ids of the killed agents. */
  kill(id: string, by: string | null = null): string[] {
    const target = this.get(id);
    if (isTerminal(target.type)) return [];
    const doomed = this.living(this.subtree(target));
    const busy = this.busy(doomed);
    for (const agent of doomed) {
      agent.type = 'killed';
      agent.epoch += 1;
      agent.waits = [];
      agent.own.push('killed');
    }
    const dead = doomed.map((agent) => agent.id);
    for (const agent of doomed) {
      if (agent.parent_id === null || dead.includes(agent.parent_id)) continue;
      const kind = agent.origin === 'spawn' ? 'outcome' : 'report';
      if (kind === 'report' && (agent.parent_id === by || !busy.includes(agent))) continue;
      const parent = this.get(agent.parent_id);
      if (!isTerminal(parent.type)) this.deliver({ id: `killed-${agent.id}`, to_id: parent.id, kind });
    }
    return dead;
  }
}
