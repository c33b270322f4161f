import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { useSending } from '../../data/api.ts';
import { go } from '../../data/route.ts';
import { Field, type Fields, FormDialog } from '../../parts/dialog.tsx';

type Check = DocumentOf<'coppice/workflow-check/v1'>;

interface Wanted {
  readonly name: string | undefined;
  readonly script: string | undefined;
  readonly args: unknown;
  readonly model: string | undefined;
  readonly cwd: string | undefined;
}

interface StartProps {
  /** A saved workflow; empty: the person says which. */
  readonly name: string;
  readonly onClose: () => void;
  readonly onStarted: () => void;
}

/** Runs a workflow in two steps: a check says what it will start, then the person says that it may. */
export function StartWorkflow({ name, onClose, onStarted }: StartProps) {
  const sending = useSending();
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const [check, setCheck] = useState<Check | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const look = async (field: Fields) => {
    const args = argsOf(field('args'));
    setFault(args === NOT_JSON ? 'args: it is not JSON' : null);
    if (args === NOT_JSON) return;
    const [script, model, cwd] = [field('script'), field('model'), field('cwd')];
    const asked = { name: script === undefined ? field('name') : undefined, script, args, cwd };
    const found = await sending.send<Check>('POST', '/v1/workflows/check', asked);
    if (found === null) return;
    setWanted({ ...asked, model });
    setCheck(found);
  };
  const start = async () => {
    const allow = [`workflow:${check?.name ?? ''}`];
    const entered = await sending.send<{ readonly id: string }>('POST', '/v1/workflow-runs', {
      ...wanted,
      allow,
    });
    if (entered === null) return;
    onClose();
    onStarted();
    go(`/trees/${entered.id}`);
  };
  if (check === null)
    return (
      <FormDialog title="Run a workflow" does="Check…" onClose={onClose} sending={sending} onSubmit={look}>
        <Field name="name" label="Saved workflow" value={name} first={name === ''} />
        <Field
          name="script"
          label="Or a script"
          lines={name === '' ? 8 : 2}
          hint="JavaScript; it begins with export const meta"
        />
        <Field name="args" label="args" lines={2} first={name !== ''} hint="JSON; empty: none" />
        <div class="pair">
          <Field name="model" label="Model" hint="Empty: as configured" />
          <Field name="cwd" label="Folder" hint="On the machine of the server; empty: its own" />
        </div>
        {fault !== null && <p class="trouble">{fault}</p>}
      </FormDialog>
    );
  return (
    <FormDialog
      title={`Run ${check.name}?`}
      does="Run"
      onClose={onClose}
      sending={sending}
      onSubmit={() => void start()}
    >
      <p>{check.description}</p>
      <p>
        With invented results it starts {check.agents} agent{check.agents === 1 ? '' : 's'}
        {check.end.type === 'bounded' ? ' and more' : ''}, in {check.calls} calls, {check.depth} deep.
      </p>
      {check.phases.length > 0 && (
        <ul>
          {check.phases.map(({ title, agents }) => (
            <li key={title ?? ''}>
              {title ?? 'Without a phase'} <span class="dim">{agents}</span>
            </li>
          ))}
        </ul>
      )}
      {check.notices.map((notice) => (
        <p key={notice} class="dim">
          {notice}
        </p>
      ))}
      {check.end.type !== 'done' && check.end.type !== 'bounded' && (
        <p class="trouble">With invented results it fails.</p>
      )}
    </FormDialog>
  );
}

const NOT_JSON = Symbol('not JSON');

function argsOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}
