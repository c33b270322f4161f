import { useRef, useState } from 'preact/hooks';
import { rewoundLines } from '../../../src/documents/rewound-lines.ts';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import type { UserFacts } from '../../../src/records/conversation/facts/message-facts.ts';
import { useApi, usePlan, useSending } from '../../data/api.ts';
import { go } from '../../data/route.ts';
import { Field, type Fields, FormDialog, KnownField } from '../../parts/dialog.tsx';
import { say } from '../../parts/notice.tsx';
import { Diff } from '../../parts/output.tsx';
import { When } from '../../parts/when.tsx';
import type { Message, Messages } from '../agent/agent.tsx';

type Rewound = DocumentOf<'coppice/rewind/v1'>;

/** A message to which a tree can be taken back, where it was written. */
export interface Place {
  readonly root_id: string;
  readonly agent_id: string;
  readonly seq: number;
  /** Whose message it is, in words. */
  readonly who: string;
}

const WAYS = {
  keep: 'With it, and without what came after it',
  before: 'Just before it',
  edit: 'With another text in its place',
} as const;
type Way = keyof typeof WAYS;

interface GoBackProps {
  readonly place: Place;
  readonly onClose: () => void;
}

/** Makes a new tree that is as this one was at a message, or with something else there; before that it says what the new one has. */
export function GoBack({ place: { root_id, agent_id, seq, who }, onClose }: GoBackProps) {
  const sending = useSending();
  const making = useRef<Promise<void> | null>(null);
  const [way, setWay] = useState<Way>('keep');
  const read = useApi<Messages>(`/v1/agents/${agent_id}/messages?after=${seq - 1}&limit=1`);
  const [message] = read.data?.messages ?? [];
  const text = message === undefined ? null : said(message);
  const path = `/v1/trees/${root_id}/rewind`;
  const moment = { to: `${way === 'before' ? 'before ' : ''}${agent_id}#${seq}` };
  const { data: plan, error } = usePlan<Rewound>(path, {
    ...moment,
    // Any text: the plan does not depend on it.
    ...(way === 'edit' ? { edit: text?.trim() || '…' } : {}),
  });
  const make = async (field: Fields) => {
    const tree = await sending.send<Rewound>('POST', path, {
      ...moment,
      ...(way === 'edit' ? { edit: field('edit') ?? '' } : {}),
      model: field('model'),
      files: field('files') !== undefined,
    });
    if (tree === null) return;
    const runs =
      field('run') !== undefined && (await sending.send('POST', `/v1/trees/${tree.root_id}/resume`)) !== null;
    say(`This is the new tree.${runs ? '' : ' It rests until you resume it or write to it.'}`);
    onClose();
    go(`/trees/${tree.root_id}`);
  };
  return (
    <FormDialog
      title={`Go back to message ${seq} of ${who}`}
      does="Make the new tree"
      onClose={onClose}
      sending={{ ...sending, error: sending.error ?? error }}
      onSubmit={(field) => {
        // One at a time: between two of its requests none is under way.
        making.current ??= make(field).finally(() => {
          making.current = null;
        });
      }}
    >
      <p class="dim">A new tree is made. This one stays as it is, and goes on if it is at work.</p>
      <div class="field">
        <label for="go-back-way">The new tree is as this one was</label>
        <select
          id="go-back-way"
          data-first
          value={way}
          onChange={({ currentTarget }) => setWay(currentTarget.value as Way)}
        >
          {Object.entries(WAYS).map(([one, words]) => (
            <option key={one} value={one} disabled={one === 'edit' && text === null}>
              {words}
            </option>
          ))}
        </select>
      </div>
      {way === 'edit' && <Field name="edit" label="Text" lines={5} value={text ?? ''} required />}
      <KnownField name="model" label="Model" hint="provider/model of this agent; empty: as it was" />
      <label>
        <input type="checkbox" name="run" /> It goes on at once
      </label>
      <section class="plan" aria-label="What the new tree has" aria-live="polite">
        {plan === null ? (
          error === null && <p class="dim">Reading what it would have…</p>
        ) : (
          <>
            <p>
              As of <When at={plan.at} since />:
            </p>
            <ul>
              {rewoundLines(plan).map((line, at) => (
                <li key={at}>{line}</li>
              ))}
            </ul>
          </>
        )}
        {plan !== null && plan.files.length > 0 && (
          <>
            <label>
              <input type="checkbox" name="files" /> Also give{' '}
              {plan.files.length === 1 ? 'this file' : `these ${plan.files.length} files`} the content of then
            </label>
            <details>
              <summary>What that changes</summary>
              <Diff text={plan.difference.join('\n')} />
            </details>
          </>
        )}
      </section>
    </FormDialog>
  );
}

/** What another text can take the place of; a fork is told who it is, whatever its task. Null: it is no text. */
function said({ kind, content }: Message): string | null {
  if (kind === 'user') return content.text.slice((content.facts as UserFacts | undefined)?.fork?.task ?? 0);
  if (kind === 'result') return content.output;
  if (kind !== 'assistant') return null;
  return content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}
