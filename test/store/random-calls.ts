import { hostname } from 'node:os';
import type { Step } from '../../src/kernel/step.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { DEFAULT_LIMITS, type Limits } from '../../src/records/agent/limits.ts';
import { type AgentState, isTerminal, newTurn } from '../../src/records/agent/state.ts';
import type { NewAsk } from '../../src/records/conversation/ask.ts';
import type { MailKind, NewMail } from '../../src/records/conversation/mail.ts';
import type { NewCronJob } from '../../src/records/run/cron-job.ts';
import type { FireRequest } from '../../src/records/run/fire-request.ts';
import type { NewAgent } from '../../src/records/run/new-agent.ts';
import { agentOf, type Row } from '../../src/store/ledger/rows.ts';
import type { Store, Worker } from '../../src/store/store.ts';
import { jobOf } from '../cron/cron-stage.ts';
import type { Random } from '../sim/random.ts';
import { CONFIG, newAgent, said, stepOf } from './ledger-fixture.ts';
import { askOf, runOf } from './retention-fixture.ts';

/** A call of a store method, or several concurrent ones. */
export interface Call {
  readonly method: keyof Store;
  readonly args: readonly unknown[];
  readonly beside?: readonly Call[];
}

const TEXTS = ['x', '', 'naïve 漢 🎋 \\ %_ $1', '"quoted"\n\t\'', '{"a":1}', 'null', 'ſ𝕏 ~'];
const KINDS: readonly MailKind[] = ['letter', 'letter', 'letter', 'outcome', 'announce', 'control', 'event'];
/** A pid that no process has. */
const GONE_PID = 2 ** 22 + 1;
const CHANNELS = ['stdout', 'webhook:ops', 'file:/a:b'] as const;

/** Random calls of people and processes, valid or not, given the present rows; ids and times depend on the seed. */
export class RandomCalls {
  /** The clock of both databases. */
  now = 1_000_000;
  readonly #random: Random;
  readonly #look: (sql: string) => Row[];
  readonly #workers: Worker[];
  #before: Step[] = [];

  /** `look` reads rows of one of the ledgers. */
  constructor(random: Random, look: (sql: string) => Row[]) {
    this.#random = random;
    this.#look = look;
    this.#workers = ['elsewhere', 'elsewhere', hostname(), hostname()].map((host, index) => ({
      id: random.uuid(),
      host,
      pid: index === 3 ? GONE_PID : process.pid,
      ...(index === 1 ? { role: 'worker' as const, labels: ['gpu'] } : {}),
    }));
  }

  next(): Call {
    const random = this.#random;
    if (random.chance(0.3)) this.now += random.pick([1, 1, 50, 2_000, 11_000]);
    const open = this.#look('SELECT count(*) AS n FROM trees WHERE removal IS NULL AND live > 0')[0]
      ?.n as number;
    if (open < 2 || (open < 6 && random.chance(0.02))) return this.#root();
    if (random.chance(0.5)) return call('commit', this.#group());
    return random.pick(this.#others)();
  }

  #root(): Call {
    const random = this.#random;
    const root = this.#agent(null, { worker: this.#worker() });
    const served = random.chance(0.7);
    const terms = { served, placement: random.pick([[], [], ['gpu'], ['gpu', 'far']]) };
    return call('createRoot', root, this.#limits(), terms);
  }

  #limits(): Limits {
    const { between, pick } = bound(this.#random);
    const [depth, children, live] = [between(1, 4), between(1, 6), between(2, 20)];
    return { ...DEFAULT_LIMITS, depth, children, live, total: between(4, 60), tokens: pick([null, 1_000]) };
  }

  #worker(): string | null {
    return this.#random.chance(0.25) ? null : this.#random.pick(this.#workers).id;
  }

  #agents(where = ''): Agent[] {
    return this.#look(`SELECT * FROM agents ${where} ORDER BY rowid`).map(agentOf);
  }

  /** An existing agent, usually a living one. */
  #someone(root_id?: string): Agent {
    const all = this.#agents(root_id === undefined ? '' : `WHERE root_id = '${root_id}'`);
    const closed = new Set(
      this.#look('SELECT root_id FROM trees WHERE removal IS NOT NULL').map((row) => row.root_id),
    );
    const living = all.filter((one) => !isTerminal(one.state.type) && !closed.has(one.root_id));
    return this.#random.pick(living.length > 0 && this.#random.chance(0.95) ? living : all);
  }

  #id(root_id?: string): string {
    return this.#random.chance(0.03) ? this.#random.uuid() : this.#someone(root_id).id;
  }

  #tree(): string {
    const found = this.#look('SELECT root_id FROM trees ORDER BY root_id');
    return this.#random.chance(0.02) ? this.#random.uuid() : (this.#random.pick(found).root_id as string);
  }

  #text(): string {
    return this.#random.pick(TEXTS);
  }

  #agent(parent: Agent | null, over: Partial<NewAgent['agent']> = {}): NewAgent {
    const random = this.#random;
    const forked_from =
      parent !== null && random.chance(0.4)
        ? { agent_id: parent.id, seq: random.between(0, parent.last_seq) }
        : null;
    const state = random.chance(0.5) ? ({ type: 'idle' } as const) : this.#state();
    const instructed = { ...CONFIG, instructions: this.#text() };
    const inherited = parent?.config ?? (random.chance(0.5) ? instructed : CONFIG);
    const config = random.chance(0.8) ? inherited : CONFIG;
    const given = { state, forked_from, config, name: this.#text(), created_at: this.now, id: random.uuid() };
    const made = newAgent(parent, { ...given, ...over }, random.chance(0.8) ? [said(this.#text())] : []);
    if (parent === null || random.chance(0.5)) return made;
    const [origin, source] = random.pick([
      ['session', 'subagent'],
      ['delegate', 'delegate'],
      ['call', undefined],
    ] as const) as readonly [Agent['origin'], 'subagent' | undefined];
    const agent = { ...made.agent, origin };
    if (source === undefined) return { ...made, agent };
    const deliver = random.pick([[], [], ['stdout'], [...CHANNELS]]);
    const cleanup = random.pick(['keep', 'delete'] as const);
    return {
      ...made,
      agent,
      run: { ...runOf(parent), id: random.uuid(), session_key: random.uuid(), source, deliver, cleanup },
    };
  }

  #state(): AgentState {
    const random = this.#random;
    const turn = newTurn(this.now);
    const call = { id: 'c', name: 'n', input: '{}', side_by_side: false, idempotent: false };
    const running = random.pick([[], [{ call }], [{ call, child: 'x' }]]);
    const none = { queued: [], results: [], spawned: [], early: [] };
    const failure = {
      kind: random.pick(['timed_out', 'cancelled', 'internal'] as never[]),
      error: this.#text(),
      retryable: false,
    };
    const executing: AgentState = { type: 'executing', seq: 1, running, ...none, turn };
    return random.pick<AgentState>([
      ...[executing, executing, executing],
      { type: 'idle' },
      { type: 'idle' },
      { type: 'requesting', attempt: 1, turn },
      { type: 'requesting', attempt: 2, turn },
      { type: 'awaiting', pending: [], results: [], spawned: [], turn },
      { type: 'cancelling', pending: [], results: [], spawned: [], reason: 'r', turn },
      { type: 'waiting', wait: { from: null, deadline: this.now }, since: this.now },
      { type: 'errored', failure },
      random.pick<AgentState>([
        { type: 'completed', result: this.#text() },
        { type: 'failed', failure },
        { type: 'idle' },
      ]),
    ]);
  }

  /** Steps of one commit: some of the same agent, some stale, some repeated. */
  #group(): Step[] {
    const random = this.#random;
    const seqs = new Map<string, number>();
    const group = Array.from({ length: random.pick([1, 1, 2, 4, 8]) }, () => {
      if (this.#before.length > 0 && random.chance(0.05)) return random.pick(this.#before);
      const [one, other] = [this.#someone(), this.#someone()];
      const agent = seqs.has(one.id) && random.chance(0.8) ? other : one;
      const at = { ...agent, last_seq: seqs.get(agent.id) ?? agent.last_seq };
      const step = this.#step(at);
      seqs.set(agent.id, step.base_seq + step.messages.length);
      return step;
    });
    this.#before = [...this.#before, ...group].slice(-20);
    return group;
  }

  #step(agent: Agent): Step {
    const random = this.#random;
    const often = (probability: number, most: number) =>
      Array.from({ length: random.chance(probability) ? random.between(1, most) : 0 });
    const { root_id } = agent;
    const create = often(0.12, 2).map(() => this.#agent(agent, { worker: this.#worker() }));
    const own = create.map((made) => made.agent.id);
    const to = () => (own.length > 0 && random.chance(0.3) ? random.pick(own) : this.#id(root_id));
    const pending = this.#look(
      `SELECT id FROM mail WHERE consumed_seq IS NULL ${random.chance(0.95) ? `AND to_id = '${agent.id}'` : ''} ORDER BY number`,
    );
    const messages = often(0.6, 3).map(() => said(this.#text()));
    const consume = pending
      .slice(0, random.pick([0, 0, 1, 3]))
      .map(({ id }) => ({ mail_id: id as string, seq: agent.last_seq + 1 }));
    const waits_for = random.chance(0.35) ? [...new Set(often(0.8, 4).map(() => this.#id(root_id)))] : null;
    const until = (waits_for ?? [])
      .filter(() => random.chance(0.4))
      .map((id) => [id, this.now + random.between(0, 9)]);
    const asks = this.#look(`SELECT id FROM asks WHERE agent_id = '${agent.id}' ORDER BY rowid`);
    return stepOf(agent, {
      ...{ create, consume, messages, waits_for, at: this.now },
      epoch: agent.epoch + (random.chance(0.04) ? random.pick([-1, 1]) : 0),
      base_seq: agent.last_seq + (random.chance(0.04) ? random.pick([-1, 1, 7]) : 0),
      state: random.chance(0.3) ? agent.state : this.#state(),
      send: often(0.25, 3).map(() => this.#letter(agent, to(), root_id)),
      kill: often(0.04, 2).map(() => this.#id(root_id)),
      waits_until: Object.fromEntries(until) as Record<string, number>,
      requests: often(0.2, 2).map(() => this.#request()),
      calls: random.between(0, 2),
      doing: random.pick([null, this.#text()]),
      reply: random.pick([null, this.#text()]),
      sent_this_turn: random.chance(0.5),
      noticed: random.chance(0.3) ? agent.mail_count : agent.noticed,
      remove: often(0.06, 2).map(() => this.#child(agent)),
      asks: often(0.1, 2).map(() => this.#ask(agent)),
      void_asks: asks.filter(() => random.chance(0.15)).map(({ id }) => id as string),
      deliver: often(0.08, 2).map(() => ({
        id: random.pick(['d1', 'd2', random.uuid()]),
        ...{ kind: 'reply', target: random.pick(CHANNELS), root_id, agent_id: agent.id, about: null },
        ...{ body: this.#text(), created_at: this.now },
      })),
      ...(random.chance(0.05) ? { config: { ...agent.config, model: this.#text() } } : {}),
    });
  }

  #request(): Step['requests'][number] {
    const { between, pick } = bound(this.#random);
    const tokens = { input: between(0, 90), output: between(0, 9), cached: between(0, 9), reasoning: 0 };
    const cost_usd = pick([null, 0, 0.1, 0.007, 1e-9]);
    return { model: 'm', usage: { ...tokens, cost_usd }, started_at: this.now, duration_ms: between(0, 999) };
  }

  #child({ id }: Agent): string {
    const children = this.#look(`SELECT id FROM agents WHERE parent_id = '${id}' ORDER BY rowid`);
    return children.length === 0 || this.#random.chance(0.1)
      ? this.#id()
      : (this.#random.pick(children).id as string);
  }

  #ask(agent: Agent): NewAsk {
    return { ...askOf(agent), id: this.#random.uuid(), input: this.#text(), asked_at: this.now };
  }

  #letter(from: Agent | null, to_id: string, root_id: string): NewMail {
    const { id: from_id, name: from_name } = from ?? { id: null, name: 'human' };
    const [id, kind] = [this.#random.uuid(), this.#random.pick(KINDS)];
    return { id, root_id, to_id, from_id, from_name, kind, body: this.#text(), sent_at: this.now };
  }

  #sends(): Call {
    const one = () => {
      const to = this.#someone();
      const there = this.#look(`SELECT id FROM mail WHERE to_id = '${to.id}'`);
      const letter = this.#letter(null, this.#random.chance(0.03) ? this.#random.uuid() : to.id, to.root_id);
      const again = there.length > 0 && this.#random.chance(0.05);
      return call('send', again ? { ...letter, id: this.#random.pick(there).id } : letter);
    };
    return { ...one(), beside: Array.from({ length: this.#random.pick([0, 0, 1, 3]) }, one) };
  }

  #rowId(sql: string): string {
    const found = this.#look(sql);
    return found.length === 0 || this.#random.chance(0.03)
      ? this.#random.uuid()
      : (this.#random.pick(found).id as string);
  }

  #job(): NewCronJob {
    const random = this.#random;
    const [id, name] = [random.uuid(), random.pick(['a', 'b', 'B', 'é', random.uuid()])];
    const root_id = random.pick([null, this.#tree()]);
    const schedule = { type: 'every', every_ms: 60_000, anchor: 0 } as const;
    return jobOf(schedule, { id, name, root_id, enabled: random.chance(0.8), created_at: this.now });
  }

  #known(): Row | undefined {
    const found = this.#look('SELECT * FROM cron_jobs ORDER BY rowid');
    return found.length === 0 ? undefined : this.#random.pick(found);
  }

  #due(): number | null {
    return this.#random.pick([null, this.now - 1, this.now + this.#random.between(0, 5_000)]);
  }

  #fire(): Call {
    const random = this.#random;
    const job = this.#known();
    if (job === undefined) return call('createJob', this.#job(), this.#due(), 3);
    const root = this.#agent(null, { origin: 'cron', state: { type: 'idle' }, worker: null });
    const run = {
      ...runOf(root.agent),
      ...{ id: random.uuid(), session_key: `cron:${job.id}`, source: 'cron', job_id: job.id as string },
      ...{
        requester_id: null,
        cleanup: random.pick(['keep', 'delete']),
        deliver: random.pick([[], ['stdout']]),
      },
    } as NewAgent['run'];
    const mail = { ...this.#letter(null, root.agent.id, root.agent.id), kind: 'task' } as const;
    const to = this.#someone();
    const waited = random.chance(0.2);
    const waiting = this.#look(
      `SELECT instant FROM cron_fires WHERE job_id = '${job.id}' AND outcome = 'queued'`,
    );
    return call('fire', {
      job_id: job.id,
      version: (job.version as number) - (random.chance(0.05) ? 1 : 0),
      next_at: random.chance(0.05) ? this.now : job.next_at,
      instant:
        waited && waiting.length > 0 ? (waiting[0] as Row).instant : ((job.next_at ?? this.now) as number),
      manual: random.chance(0.3),
      ...{ waited, missed: random.between(0, 2), then_at: this.#due(), disable: random.chance(0.1) },
      ...{ overlap: random.pick(['skip', 'queue'] as const), at: this.now },
      begin: random.chance(0.7)
        ? { type: 'run', root: { ...root, run }, limits: this.#limits(), placement: [], mail }
        : { type: 'event', mail: { ...this.#letter(null, to.id, to.root_id), kind: 'event' } },
    } as FireRequest);
  }

  #delivery(): Row | undefined {
    const found = this.#look('SELECT * FROM deliveries ORDER BY rowid');
    return found.length === 0 ? undefined : this.#random.pick(found);
  }

  #removal(): Call {
    const random = this.#random;
    const terms = { before: this.now - random.pick([-1, 0, 5_000]), idle: random.chance(0.7) };
    const kind = random.pick(['delivery', 'fire', 'run'] as const);
    const key = () => {
      const sql = {
        delivery: 'SELECT ended_at AS a, id AS b FROM deliveries',
        run: 'SELECT created_at AS a, id AS b FROM subagent_runs',
        fire: 'SELECT job_id AS a, instant AS b, manual AS c FROM cron_fires',
      }[kind];
      return this.#look(sql)
        .filter(() => random.chance(0.5))
        .map(({ a, b, c }) => JSON.stringify(c === undefined ? [a, b] : [a, b, c === 1]));
    };
    return random.pick<() => Call>([
      () => call('closeTrees', [this.#tree(), this.#tree()], terms),
      () => call('oldTrees', terms, null),
      () => call('reopenTrees', [this.#tree()]),
      () => call('removeTreeRows', this.#tree(), random.pick([1, 5, 1_000]), random.chance(0.5)),
      () =>
        call(
          'removeTreeRows',
          this.#rowId('SELECT root_id AS id FROM trees WHERE removal IS NOT NULL'),
          20,
          random.chance(0.5),
        ),
      () => call('oldEntries', kind, this.now, null, 5),
      () => call('removeEntries', kind, key(), this.now),
      () => call('treeSize', this.#tree()),
      () => call('closedTrees', 5),
    ])();
  }

  #reading(): Call {
    const random = this.#random;
    const agent = this.#someone();
    const prefix = random.pick([agent.id, agent.id.slice(0, 6), agent.name, agent.session_key, '%', '____']);
    return random.pick<() => Call>([
      () => call('agent', this.#id()),
      () =>
        call(
          'agents',
          random.pick([
            { root_id: this.#tree() },
            { living: true, limit: 3 },
            { conversations: true, cwd: '/' },
            { parent_id: agent.id },
          ]),
        ),
      () => call('find', prefix, random.pick([undefined, agent.root_id])),
      () => call('tree', this.#tree()),
      () => call('history', agent.id, random.pick([undefined, 1]), random.pick([undefined, 2])),
      () => call('mail', agent.id, random.chance(0.5)),
      () => call('waiters', agent.id),
      () => call('requests', agent.id),
      () =>
        call(
          'runs',
          random.pick([{}, { active: true }, { root_id: agent.root_id, limit: 2 }, { source: 'cron' }]),
        ),
      () =>
        call(
          'findRuns',
          this.#rowId('SELECT id FROM subagent_runs ORDER BY rowid').slice(0, random.pick([5, 99])),
        ),
      () =>
        call(
          'asks',
          random.pick([{ open: true }, { agent_id: agent.id }, { root_id: agent.root_id, open: true }]),
        ),
      () =>
        call('findAsks', this.#rowId('SELECT id FROM asks ORDER BY rowid').slice(0, random.pick([5, 99]))),
      () => call('jobs', random.pick([{}, { root_id: agent.root_id }])),
      () => call('findJobs', random.pick(['a', 'b', this.#rowId('SELECT id FROM cron_jobs').slice(0, 6)])),
      () => call('deliveries', random.pick([{}, { status: 'pending', limit: 2 }, { status: 'failed' }])),
      () => call('findDeliveries', this.#rowId('SELECT id FROM deliveries').slice(0, 6)),
      () => call('pendingChannels'),
      () => call('nextDue'),
      () => call('fires', this.#rowId('SELECT id FROM cron_jobs'), 5),
      () => call('workers'),
      () =>
        call(
          'ledBy',
          this.#workers.map(({ id }) => id),
        ),
      () => call('placement', this.#tree()),
      () => call('now'),
    ])();
  }

  readonly #others: readonly (() => Call)[] = [
    () => this.#sends(),
    () => this.#sends(),
    () => this.#sends(),
    () => {
      const to = this.#id();
      return call(
        'takeBack',
        to,
        this.#rowId(`SELECT id FROM mail WHERE to_id = '${to}' AND from_id IS NULL`),
      );
    },
    () => call('kill', this.#id(), this.#text(), this.now),
    () => {
      const answer = {
        verdict: this.#random.pick(['allow', 'deny']),
        scope: this.#random.pick(['once', 'agent']),
      };
      const ask = this.#rowId('SELECT id FROM asks ORDER BY rowid');
      return call('answer', ask, {
        ...answer,
        note: this.#text(),
        by: 'you',
        at: this.#random.pick([5, this.now]),
      });
    },
    () => call('heartbeat', this.#random.pick(this.#workers)),
    () => call('heartbeat', this.#random.pick(this.#workers)),
    () =>
      this.#random.chance(0.2)
        ? call('release', this.#random.pick(this.#workers).id)
        : call('signals', this.#random.pick(this.#workers).id),
    () => call('claim', this.#tree(), this.#random.pick(this.#workers)),
    () => call('claim', this.#tree(), this.#random.pick(this.#workers)),
    () =>
      call(
        'unledTrees',
        this.#random.pick([1, 5, 100]),
        this.#random.pick([undefined, ['gpu'], ['gpu', 'far']]),
      ),
    () => {
      const root_id = this.#tree();
      const times = this.#agents(`WHERE root_id = '${root_id}'`).filter(() => this.#random.chance(0.5));
      const parked = new Map(
        times.map(({ id }) => [id, this.#random.pick([Infinity, this.now + 0.5, this.now - 1])]),
      );
      return call(
        'releaseTree',
        root_id,
        this.#random.pick(this.#workers).id,
        this.#random.chance(0.7) ? parked : undefined,
      );
    },
    () => call('serveTree', this.#tree()),
    () =>
      this.#random.chance(0.2)
        ? call('drainWorker', this.#random.pick(this.#workers).id)
        : call('signals', this.#random.pick(this.#workers).id),
    () =>
      this.#random.chance(0.3)
        ? call('setLimits', this.#rowId('SELECT root_id AS id FROM trees'), this.#limits())
        : this.#reading(),
    () => call('reap', this.#tree(), this.now),
    () => call('createJob', this.#job(), this.#due(), this.#random.pick([undefined, 2])),
    () => {
      const job = this.#known();
      const id = job === undefined ? {} : { id: job.id as string };
      return call(
        'changeJob',
        { ...this.#job(), ...id },
        ((job?.version ?? 1) as number) - (this.#random.chance(0.1) ? 1 : 0),
        this.#due(),
        this.now,
      );
    },
    () =>
      this.#random.chance(0.3)
        ? call('removeJob', this.#rowId('SELECT id FROM cron_jobs'))
        : call('dueJobs', this.now, 1_000),
    () => this.#fire(),
    () => this.#fire(),
    () => {
      const job = this.#known();
      const seen = {
        version: (job?.version ?? 1) as number,
        next_at: this.#random.pick([(job?.next_at ?? null) as number | null, this.now]),
      };
      return call('replan', job?.id ?? 'none', seen, this.#due(), this.now);
    },
    () =>
      call(
        'claimDeliveries',
        this.#random.pick(this.#workers).id,
        this.now,
        this.#random.pick([1, 5]),
        this.#random.pick([['stdout'], ['webhook', 'stdout', 'file']]),
        this.#random.pick([undefined, ['d1']]),
      ),
    () =>
      call('claimDeliveries', this.#random.pick(this.#workers).id, this.now, 5, [
        'webhook',
        'stdout',
        'file',
      ]),
    () => {
      const one = this.#delivery();
      const which = [
        one?.id ?? 'none',
        one?.worker ?? this.#random.pick(this.#workers).id,
        (one?.attempts ?? 1) as number,
      ];
      const error = this.#text();
      return this.#random.pick([
        call('noteDelivery', ...which, error),
        call('endDelivery', ...which, { status: 'delivered', at: this.now }),
        call('endDelivery', ...which, { status: 'failed', error, at: this.now }),
        call('endDelivery', ...which, { status: 'pending', error, next_at: this.now + 5 }),
      ]);
    },
    () =>
      call(
        'retryDeliveries',
        this.#random.pick([null, ['d1'], [(this.#delivery()?.id ?? 'none') as string]]),
        this.now,
      ),
    () => call('cleanRuns', this.now, this.#random.pick([1, 10])),
    () => {
      const seat = [this.#random.pick(['telegram', 'x']), this.#random.pick(this.#workers).id];
      return this.#random.pick([
        call('takeSeat', ...seat),
        call('takeSeat', ...seat),
        call('leaveSeat', ...seat),
      ]);
    },
    () => {
      const note = [this.#random.pick(['telegram', 'x']), this.#text()];
      return this.#random.pick([
        call('remember', ...note, this.#text()),
        call('remember', ...note, null),
        call('recall', ...note),
      ]);
    },
    () => this.#removal(),
    () => this.#removal(),
    () => this.#reading(),
    () => this.#reading(),
  ];
}

function call(method: keyof Store, ...args: unknown[]): Call {
  return { method, args };
}

function bound(random: Random): Pick<Random, 'between' | 'pick'> {
  return { between: (least, most) => random.between(least, most), pick: (list) => random.pick(list) };
}
