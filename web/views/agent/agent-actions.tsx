import { useState } from 'preact/hooks';
import type { AgentDocument } from '../../../src/documents/shapes/agent-parts.ts';
import { request, useSending } from '../../data/api.ts';
import { useKeys } from '../../data/keys.ts';
import { go } from '../../data/route.ts';
import { Field, type Fields, FormDialog } from '../../parts/dialog.tsx';
import { say } from '../../parts/notice.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { FullAgent, TreeAgents } from './agent.tsx';

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
  useKeys(actions);
  const close = () => {
    setDialog(null);
    onDone();
  };
  return (
    <>
      <div class="buttons">
        {actions.map(({ key, what, act }) => (
          <button
            key={key}
            type="button"
            title={key}
            class={key === 'x' ? 'danger' : undefined}
            disabled={sending.busy}
            onClick={act}
          >
            {what}
          </button>
        ))}
      </div>
      <Trouble error={sending.error} />
      {dialog === 'fork' && <Fork agent={agent} onClose={close} />}
      {dialog === 'kill' && <Kill agent={agent} onClose={close} />}
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

/** Confirmation that shows how many descendants will be killed, too. */
function Kill({ agent, onClose }: DialogProps) {
  const sending = useSending();
  const [others, setOthers] = useState<readonly AgentDocument[] | null>(null);
  const [asked, setAsked] = useState(false);
  if (!asked) {
    setAsked(true);
    void request<TreeAgents>('GET', `/v1/trees/${agent.root_id}`).then(
      ({ agents }) => setOthers(livingBelow(agent.id, agents)),
      () => undefined,
    );
  }
  const kill = async () => {
    const done = await sending.send<{ readonly killed: readonly unknown[] }>(
      'POST',
      `/v1/agents/${agent.id}/kill`,
    );
    if (done === null) return;
    say(`Killed ${agent.name}`);
    onClose();
  };
  const names = others?.map(({ name }) => name) ?? [];
  return (
    <FormDialog
      title={`Kill ${agent.name}?`}
      does={names.length === 0 ? 'Kill' : `Kill ${names.length + 1} agents`}
      danger
      onClose={onClose}
      sending={sending}
      onSubmit={kill}
    >
      <p>
        {others === null
          ? 'All its descendants are killed, too.'
          : names.length === 0
            ? 'It has no living descendants.'
            : `${names.length} ${names.length === 1 ? 'descendant is' : 'descendants are'} killed, too: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : '.'}`}
      </p>
      <p class="dim">Their conversations stay readable.</p>
    </FormDialog>
  );
}

function livingBelow(id: string, agents: readonly AgentDocument[]): AgentDocument[] {
  const below = agents.filter(({ parent_id }) => parent_id === id);
  return below.flatMap((child) => [
    ...(child.ended_at === null ? [child] : []),
    ...livingBelow(child.id, agents),
  ]);
}
