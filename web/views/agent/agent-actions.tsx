import { useState } from 'preact/hooks';
import type { AgentDocument } from '../../../src/documents/shapes/agent-parts.ts';
import { useSending } from '../../data/api.ts';
import { go } from '../../data/route.ts';
import { ActionButtons } from '../../parts/action-buttons.tsx';
import { Field, OrderDialog } from '../../parts/dialog.tsx';
import { KillDialog } from '../../parts/kill-dialog.tsx';
import { say } from '../../parts/notice.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { FullAgent } from './agent.tsx';

export interface ActionsProps {
  readonly agent: FullAgent;
  readonly onDone: () => void;
}

/** Actions of a person on a living agent, other than writing to it. */
export function AgentActions({ agent, onDone }: ActionsProps) {
  const sending = useSending();
  const [dialog, setDialog] = useState<'fork' | 'kill' | null>(null);
  const order = async (what: 'interrupt' | 'retry', said: string) => {
    if ((await sending.send('POST', `/v1/agents/${agent.id}/${what}`)) !== null) say(said);
    onDone();
  };
  const lives = agent.ended_at === null;
  const fails = lives && agent.state === 'errored';
  const works = lives && !['idle', 'errored'].includes(agent.state);
  const actions = [
    works && { key: 'i', what: 'Interrupt', act: () => order('interrupt', `${agent.name} is interrupted`) },
    fails && { key: 'r', what: 'Retry', act: () => order('retry', `${agent.name} asks its model again`) },
    lives && { key: 'f', what: 'Fork…', act: () => setDialog('fork') },
    lives && { key: 'x', what: 'Kill…', act: () => setDialog('kill') },
  ] as const;
  const close = () => {
    setDialog(null);
    onDone();
  };
  return (
    <>
      <ActionButtons actions={actions} busy={sending.busy} />
      <Trouble error={sending.error} />
      {dialog === 'fork' && <Fork agent={agent} onClose={close} />}
      {dialog === 'kill' && <KillDialog agent={agent} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly agent: FullAgent;
  readonly onClose: () => void;
}

function Fork({ agent, onClose }: DialogProps) {
  return (
    <OrderDialog<AgentDocument>
      title={`Fork ${agent.name}`}
      does="Fork"
      path={`/v1/agents/${agent.id}/fork`}
      body={(field) => ({ name: field('name'), prompt: field('prompt') ?? null })}
      onSent={(child) => go(`/agents/${child.id}`)}
      onClose={onClose}
    >
      <Field name="name" label="Name of the child" required first />
      <Field name="prompt" label="Its task" lines={4} hint="Empty: it waits for what you write to it" />
    </OrderDialog>
  );
}
