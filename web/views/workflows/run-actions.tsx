import { useState } from 'preact/hooks';
import { useSending } from '../../data/api.ts';
import { go } from '../../data/route.ts';
import { ActionButtons } from '../../parts/action-buttons.tsx';
import { Button } from '../../parts/button.tsx';
import { Field, FormDialog, OrderDialog } from '../../parts/dialog.tsx';
import { say } from '../../parts/notice.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { WorkflowRun } from './run-panel.tsx';

type RunAgent = WorkflowRun['agents'][number];

interface ActionsProps {
  readonly run: WorkflowRun;
  readonly onDone: () => void;
}

const SAID = { pause: 'pauses', stop: 'stops', resume: 'goes on' } as const;

/** What a person can do with a whole run. */
export function RunActions({ run, onDone }: ActionsProps) {
  const sending = useSending();
  const [dialog, setDialog] = useState<'stop' | 'save' | null>(null);
  const at = `/v1/workflow-runs/${run.id}`;
  const order = async (what: keyof typeof SAID) => {
    if ((await sending.send('POST', `${at}/${what}`)) !== null) say(`${run.name} ${SAID[what]}`);
    setDialog(null);
    onDone();
  };
  const rerun = async () => {
    const begun = await sending.send<{ readonly id: string }>('POST', `${at}/rerun`);
    if (begun !== null) go(`/trees/${begun.id}?like=${run.root_id}`);
  };
  const goes_on = run.ended_at === null;
  const works = goes_on && run.paused === null;
  const rests = run.paused !== null || run.status === 'unled';
  const actions = [
    works && { key: 'p', what: 'Pause', act: () => order('pause') },
    works && { key: 'x', what: 'Stop…', act: () => setDialog('stop') },
    goes_on && rests && { key: 'r', what: 'Resume', act: () => order('resume') },
    !goes_on && { key: 'r', what: 'Rerun', act: rerun },
    { key: 'v', what: 'Save…', act: () => setDialog('save') },
  ] as const;
  return (
    <ActionButtons actions={actions} busy={sending.busy}>
      {goes_on && <SendButton run={run} onDone={onDone} />}
      <Trouble error={dialog === null ? sending.error : null} />
      {dialog === 'stop' && (
        <FormDialog
          title={`Stop ${run.name}?`}
          does="Stop"
          danger
          onClose={() => setDialog(null)}
          sending={sending}
          onSubmit={() => void order('stop')}
        >
          <p>
            What {run.counts.running} agent{run.counts.running === 1 ? ' has' : 's have'} under way is broken
            off.
          </p>
          <p class="dim">Nothing is lost: it can go on later, and nothing finished is run again.</p>
        </FormDialog>
      )}
      {dialog === 'save' && <Save run={run} onDone={() => setDialog(null)} />}
    </ActionButtons>
  );
}

/** Saves the script, so that it can be run by its name. */
function Save({ run, onDone }: ActionsProps) {
  return (
    <OrderDialog<{ readonly path: string }>
      title="Save the workflow"
      does="Save"
      path={`/v1/workflow-runs/${run.id}/save`}
      body={(field) => ({ name: field('name'), overwrite: field('overwrite') === 'yes' })}
      onSent={({ path }) => say(`Saved as ${path}`)}
      onClose={onDone}
    >
      <Field name="name" label="Name" value={run.name} required first />
      <Field
        name="overwrite"
        label="Replace another script of that name"
        options={['no', 'yes']}
        value="no"
      />
    </OrderDialog>
  );
}

interface SendProps extends ActionsProps {
  /** Only to agents of this phase. */
  readonly phase?: string;
}

/** Writes to all agents of a run, or of a phase. */
export function SendButton({ run, phase, onDone }: SendProps) {
  const [writes, setWrites] = useState(false);
  const sent = ({ to }: { readonly to: readonly unknown[] }) => {
    say(`Sent to ${to.length} agent${to.length === 1 ? '' : 's'}`);
    onDone();
  };
  return (
    <>
      <Button does="Message…" onClick={() => setWrites(true)} />
      {writes && (
        <OrderDialog
          title={`Message to the agents of ${phase ?? run.name}`}
          does="Send"
          onClose={() => setWrites(false)}
          path={`/v1/workflow-runs/${run.id}/send`}
          body={(field) => ({ text: field('text'), phase })}
          onSent={sent}
        >
          <Field name="text" label="Message" lines={4} required first />
        </OrderDialog>
      )}
    </>
  );
}

/** Runs one agent again, which works for its call from then on. */
export function RetryAgent({ agent, onDone }: { readonly agent: RunAgent; readonly onDone: () => void }) {
  const sending = useSending();
  const retry = async () => {
    if ((await sending.send('POST', `/v1/workflow-agents/${agent.id}/retry`)) === null) return;
    say(`Runs ${agent.label} again`);
    onDone();
  };
  return (
    <>
      <Button
        does="Retry"
        class="skip-agent"
        aria-label={`Retry ${agent.label}`}
        disabled={sending.busy}
        onClick={() => void retry()}
      />
      <Trouble error={sending.error} />
    </>
  );
}

/** Ends one agent, once a person has confirmed it; the script gets `null` for it. */
export function SkipAgent({ agent, onDone }: { readonly agent: RunAgent; readonly onDone: () => void }) {
  const [asks, setAsks] = useState(false);
  const skipped = () => {
    say(`Skipped ${agent.label}`);
    onDone();
  };
  return (
    <>
      <Button
        does="Skip"
        class="skip-agent"
        aria-label={`Skip ${agent.label}`}
        onClick={() => setAsks(true)}
      />
      {asks && (
        <OrderDialog
          title={`Skip ${agent.label}?`}
          does="Skip"
          danger
          onClose={() => setAsks(false)}
          path={`/v1/agents/${agent.id}/skip`}
          onSent={skipped}
        >
          <p>
            It is ended, with the agents below it, and the script gets null. Its conversation stays readable.
          </p>
        </OrderDialog>
      )}
    </>
  );
}
