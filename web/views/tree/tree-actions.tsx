import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { useSending } from '../../data/api.ts';
import { addressNow, go, settleAddress } from '../../data/route.ts';
import { ActionButtons } from '../../parts/action-buttons.tsx';
import { copyText } from '../../parts/copy-button.tsx';
import { Field, OrderDialog } from '../../parts/dialog.tsx';
import { KillDialog } from '../../parts/kill-dialog.tsx';
import { say } from '../../parts/notice.tsx';
import { Seldom } from '../../parts/seldom.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { ExportTree } from './export-tree.tsx';

type Tree = DocumentOf<'coppice/tree/v1'>;
type Agent = Tree['agents'][number];

interface ActionsProps {
  readonly tree: Tree;
  readonly root: Agent;
  /** Whether this session may change the tree here. */
  readonly changes: boolean;
  readonly like: string | null;
  readonly onDone: () => void;
}

/** What a person can do with a whole tree. */
export function TreeActions({ tree, root, changes, like, onDone }: ActionsProps) {
  const sending = useSending();
  const [dialog, setDialog] = useState<'message' | 'again' | 'what-if' | 'budget' | 'export' | 'kill' | null>(
    null,
  );
  const working = tree.agents.filter((one) => one.ended_at === null && !RESTING.has(one.state));
  // Whoever a person has paused goes on by the actions of the workflow.
  const broken = tree.agents.filter(
    ({ ended_at, state, paused }) =>
      ended_at === null && (state === 'errored' || (paused !== null && paused.spent !== 'person')),
  );
  const lives = changes && root.ended_at === null;
  const resume = async (how: object, said: string) => {
    if ((await sending.send('POST', `/v1/trees/${root.root_id}/resume`, how)) !== null) say(said);
    onDone();
  };
  const stop = async () => {
    for (const { id } of working) await sending.send('POST', `/v1/agents/${id}/interrupt`);
    say(`${working.length} agents are interrupted; a message lets one go on`);
    onDone();
  };
  const copyLink = async () => {
    settleAddress();
    const copied = await copyText(window.location.href);
    say(copied ? 'The link is copied' : 'This page may not write to the clipboard');
  };
  const actions = [
    lives && { key: 'm', what: 'Message…', act: () => setDialog('message') },
    changes && working.length > 0 && { key: 'i', what: 'Stop', act: stop },
    changes &&
      broken.length > 0 && {
        key: 'r',
        what: broken.length === 1 ? 'Retry' : `Retry ${broken.length} agents`,
        act: () => resume({ retry: true }, 'They ask their models again'),
      },
    changes &&
      tree.agents.some(({ unled }) => unled !== null) && {
        key: 'c',
        what: 'Resume',
        act: () => resume({}, 'The tree goes on'),
      },
    changes && { key: 'a', what: 'Again…', act: () => setDialog('again') },
    changes && { key: 'w', what: 'What if…', act: () => setDialog('what-if') },
    lives && { key: 'b', what: 'Budget…', act: () => setDialog('budget') },
    { key: 'e', what: 'Export…', act: () => setDialog('export') },
    { key: 'y', what: 'Copy link', act: copyLink },
    { key: 'p', what: 'On a phone', act: () => go(`/phone?page=${encodeURIComponent(addressNow())}`) },
    lives && { key: 'x', what: 'Kill…', act: () => setDialog('kill') },
  ] as const;
  const close = () => {
    setDialog(null);
    onDone();
  };
  return (
    <>
      <ActionButtons actions={actions} busy={sending.busy}>
        {like !== null && <a href={`/compare?a=${like}&b=${root.root_id}`}>Compare with the earlier run</a>}
        <span class="dim open-elsewhere">
          In a terminal: <code>coppice --tree {root.root_id.slice(0, 8)}</code>
        </span>
      </ActionButtons>
      <Trouble error={sending.error} />
      {dialog === 'message' && <MessageTree root={root} onClose={close} />}
      {dialog === 'again' && (
        <Seldom
          part="go-back"
          place={{ root_id: root.id, agent_id: root.id, seq: 1, who: root.name }}
          onClose={close}
        />
      )}
      {dialog === 'what-if' && <Seldom part="what-if" root_id={root.id} onClose={close} />}
      {dialog === 'budget' && <BudgetOfTree tree={tree} root={root} onClose={close} />}
      {dialog === 'kill' && <KillDialog agent={root} onClose={close} />}
      {dialog === 'export' && <ExportTree root={root} onClose={close} />}
    </>
  );
}

const RESTING: ReadonlySet<Agent['state']> = new Set(['idle', 'errored', 'completed', 'failed', 'killed']);

interface DialogProps {
  readonly root: Agent;
  readonly onClose: () => void;
}

function MessageTree({ root, onClose }: DialogProps) {
  return (
    <OrderDialog
      title={`Write to ${root.name}`}
      does="Send"
      path={`/v1/agents/${root.id}/send`}
      body={(field) => ({ text: field('text') })}
      onSent={() => say(`Sent to ${root.name}`)}
      onClose={onClose}
    >
      <Field name="text" label="Message" lines={4} required first />
    </OrderDialog>
  );
}

function BudgetOfTree({ tree, root, onClose }: DialogProps & { readonly tree: Tree }) {
  const { tokens, cost_usd } = tree.tree.limits;
  return (
    <OrderDialog
      title="Limits of the tree"
      does="Change"
      path={`/v1/agents/${root.id}/budget`}
      body={(field) => ({ usd: amountOf(field('usd')), tokens: amountOf(field('tokens')) })}
      onSent={() => say('The limits of the tree are changed')}
      onClose={onClose}
    >
      <Field
        name="usd"
        label="US dollars"
        hint="Empty: no limit"
        value={cost_usd === null ? '' : String(cost_usd)}
        number
        first
      />
      <Field
        name="tokens"
        label="Tokens"
        hint="Empty: no limit"
        value={tokens === null ? '' : String(tokens)}
        number
      />
    </OrderDialog>
  );
}

function amountOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
