import type { CutTree } from '../../src/kernel/cut/cut-facts.ts';
import type { Step } from '../../src/kernel/step.ts';
import type { NewMail } from '../../src/records/conversation/mail.ts';
import type { Store } from '../../src/store/store.ts';
import type { Journal } from './journal.ts';
import type { Situation, StepKind } from './kill-points.ts';
import { situationOf, stepKind } from './kill-points.ts';
import type { Killer } from './killer.ts';
import { type Offer, offerOf, offerOfCut, offerOfLetter, offerOfRoot } from './offer.ts';

export interface Watch {
  readonly journal: Journal;
  readonly killer: Killer;
  /** Starts the delay of the thread that kills within a commit. */
  readonly strike: () => void;
  /** Kind of the newest step of each agent that was acknowledged to this process. */
  readonly newest: Map<string, StepKind>;
}

/** Wraps a leader's ledger: journals what is written and acknowledged, and kills the process at the ordered point. */
export function watchedStore(store: Store, watch: Watch): Store {
  const { killer, newest } = watch;
  /** Claimed agents without an acknowledged step yet. */
  const claimed = new Map<string, Situation>();
  const takeOver = (situations: readonly Situation[]) => {
    if (killer.reached('in-takeover', situations)) killer.die();
  };
  const own = {
    async createRoot(...args: Parameters<Store['createRoot']>) {
      const [root] = args;
      return write([offerOfRoot(root)], watch, () => store.createRoot(...args), always);
    },
    async enterCut(cut: CutTree) {
      return write(
        [offerOfCut(cut)],
        watch,
        () => store.enterCut(cut),
        (entered) => [entered],
      );
    },
    async send(mail: NewMail) {
      return write(
        [offerOfLetter(mail)],
        watch,
        () => store.send(mail),
        ({ ok }) => [ok],
      );
    },
    async commit(steps: readonly Step[]) {
      const offers = steps.map((step) => offerOf(step, stepKind(step, claimed.has(step.agent_id))));
      const verdicts = await write(
        offers,
        watch,
        () => store.commit(steps),
        (answer) => answer.map(({ ok }) => ok),
      );
      for (const [index, { agent_id, kind, created }] of offers.entries()) {
        if (verdicts[index]?.ok !== true) continue;
        claimed.delete(agent_id);
        newest.set(agent_id, kind);
        for (const id of created) newest.set(id, 'fork');
      }
      return verdicts;
    },
    async claim(...args: Parameters<Store['claim']>) {
      const agents = await store.claim(...args);
      for (const agent of agents) claimed.set(agent.id, situationOf(agent));
      takeOver(agents.map(situationOf));
      return agents;
    },
    async mail(...args: Parameters<Store['mail']>) {
      const mail = await store.mail(...args);
      const situation = claimed.get(args[0]);
      if (situation !== undefined) takeOver([situation]);
      return mail;
    },
  };
  return new Proxy(store, {
    get(_, name) {
      if (name in own) return own[name as keyof typeof own];
      const value: unknown = Reflect.get(store, name);
      return typeof value === 'function' ? value.bind(store) : value;
    },
  });
}

function always(): readonly boolean[] {
  return [true];
}

async function write<T>(
  offers: readonly Offer[],
  { journal, killer, strike, newest }: Watch,
  perform: () => Promise<T>,
  takenOf: (answer: T) => readonly boolean[],
): Promise<T> {
  const kinds = offers.map(({ kind }) => kind);
  const n = journal.offer(offers);
  if (killer.reached('before-commit', kinds)) killer.die();
  const strikes = killer.reached('in-commit', kinds);
  if (strikes) strike();
  const answer = await perform();
  // Dies here if the thread was too late or has not fired yet.
  if (strikes) killer.die();
  const taken = takenOf(answer);
  const done = kinds.filter((_, index) => taken[index] === true);
  if (killer.reached('after-commit', done)) killer.die();
  journal.answer(n, taken);
  if (kinds[0] === 'root') newest.set(offers[0]?.agent_id ?? '', 'root');
  return answer;
}
