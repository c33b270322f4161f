import { useState } from 'preact/hooks';
import type { AgentDocument } from '../../../src/documents/shapes/agent-parts.ts';
import { useSending } from '../../data/api.ts';
import { go } from '../../data/route.ts';
import { ActionButtons } from '../../parts/action-buttons.tsx';
import { Field, type Fields, FormDialog } from '../../parts/dialog.tsx';
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
  const works = lives && !['idle', 'errored'].includes(agent.state);
  const actions = [
    ...(works
      ? [{ key: 'i', what: 'Interrupt', act: () => order('interrupt', `${agent.name} is interrupted`) }]
      : []),
    ...(lives && agent.state === 'errored'
      ? [{ key: 'r', what: 'Retry', act: () => order('retry', `${agent.name} asks its model again`) }]
      : []),
    ...(lives
      ? [
          { key: 'f', what: 'Fork…', act: () => setDialog('fork') },
          { key: 'x', what: 'Kill…', act: () => setDialog('kill') },
        ]
      : []),
  ];
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
  const sending = useSending();
  const fork = async (field: Fields) => {
    const child = await sending.send<AgentDocument>('POST', `/v1/agents/${agent.id}/fork`, {
      name: field('name'),
      prompt: field('prompt') ?? null,
    });
    if (child === null) return;
    onClose();
    go(`/agents/${child.id}`);
  };
  return (
    <FormDialog title={`Fork ${agent.name}`} does="Fork" onClose={onClose} sending={sending} onSubmit={fork}>
      <Field name="name" label="Name of the child" required first />
      <Field name="prompt" label="Its task" lines={4} hint="Empty: it waits for what you write to it" />
    </FormDialog>
  );
}
