import type { Ask } from '../../records/conversation/ask.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { spellHiddenLine } from '../../render/hidden-characters.ts';
import type { Store } from '../store.ts';

/** Minimum characters of an id that a person types. */
const TYPED_MIN = 6;
/** Minimum characters of an id in lists. */
const LISTED_MIN = 8;
const SUBJECT_MAX = 60;

const COMMANDS = { list: 'coppice approvals list', show: 'coppice approvals show' };

/**
 * Finds a question by its id, or by a beginning of it that no other question in the ledger has: what a person saw before, and has been answered or withdrawn
 * since, must not mean a later question. Rejects with `E_ASK_ANSWERED`, which says what it meant, and with `E_ASK_NOT_FOUND`.
 */
export async function findAsk(
  store: Pick<Store, 'findAsks' | 'now'>,
  typed: string,
  { list, show } = COMMANDS,
): Promise<Ask> {
  const id = typed.toLowerCase();
  const matches = await store.findAsks(id);
  const exact = matches.filter((ask) => ask.id === id);
  const found = exact.length > 0 ? exact : id.length < TYPED_MIN ? [] : matches;
  const open = found.filter(({ verdict }) => verdict === null);
  const closed = found.find(({ verdict }) => verdict !== null);
  const [only] = open;
  if (closed === undefined && only !== undefined && open.length === 1) return only;
  const look = open.map((ask) => `${show} ${ask.id}  (${subjectOf(ask)})`).join('\n');
  const hint = look === '' ? `See: ${list}` : `Look at what waits before you answer it:\n${look}`;
  const more = matches.length > 0 ? `: write at least ${TYPED_MIN} characters of its id` : '';
  if (closed !== undefined)
    throw new CoppiceError('E_ASK_ANSWERED', `"${typed}" means ${await endOf(closed, store)}`, { hint });
  const what =
    open.length > 1 ? `"${typed}" matches ${open.length} approvals` : `no approval "${typed}"${more}`;
  throw new CoppiceError('E_ASK_NOT_FOUND', what, { hint });
}

function subjectOf({ agent_name, tool, subject }: Ask): string {
  return `${clean(agent_name)}: ${clean(tool)} ${spellHiddenLine(subject, SUBJECT_MAX)}`;
}

async function endOf(ask: Ask, store: Pick<Store, 'now'>): Promise<string> {
  const word = ask.verdict === 'allow' ? 'allowed' : 'denied';
  const how = ask.verdict === 'void' ? 'withdrawn' : `${word} by ${clean(ask.answered_by ?? 'you')}`;
  const ago = duration((await store.now()) - (ask.answered_at ?? ask.asked_at));
  return `${subjectOf(ask)}, which was ${how} ${ago} ago; nothing was answered`;
}

/** The shortest beginning of the id, as long as lists show at least, that no other question in the ledger has. */
export async function shortAskId(store: Pick<Store, 'findAsks'>, { id }: Ask): Promise<string> {
  const others = (await store.findAsks(id.slice(0, LISTED_MIN))).filter((one) => one.id !== id);
  let length = LISTED_MIN;
  while (others.some((one) => one.id.startsWith(id.slice(0, length)))) length += 1;
  return id.slice(0, length);
}
