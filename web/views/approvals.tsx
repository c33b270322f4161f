import { useRef, useState } from 'preact/hooks';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { questionOf } from '../../src/records/question/question.ts';
import { spellHidden } from '../../src/render/hidden-characters.ts';
import { type ApiError, useApi, useSending } from '../data/api.ts';
import { isFree } from '../data/keys.ts';
import { Button } from '../parts/button.tsx';
import { say } from '../parts/notice.tsx';
import { Call, Diff, Output } from '../parts/output.tsx';
import type { ListedApproval, PageContext } from '../parts/page.ts';
import { Nothing, Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';
import { GrantForm } from './grant-form.tsx';
import { QuestionForm } from './question-form.tsx';

const TITLES_MS = 10_000;

/** The one queue of approvals, oldest first. */
export function ApprovalsView({ approvals, writes }: PageContext) {
  const { data, open, error, reload } = approvals;
  const trees = useApi<DocumentOf<'coppice/trees/v1'>>(
    data === null || data.length === 0 ? null : '/v1/trees?limit=500',
    TITLES_MS,
  );
  const titles = new Map(trees.data?.trees.map(({ root_id, title }) => [root_id, title]));
  return (
    <section aria-labelledby="approvals">
      <div class="head">
        <h1 id="approvals">Approvals</h1>
        {writes && data !== null && data.length > 0 && (
          <p class="hint">
            On the row in focus: <kbd>y</kbd> once, <kbd>s</kbd> from now on…, <kbd>n</kbd> deny
          </p>
        )}
        <a href="/approvals/rules">Granted rules</a>
        <a href="/phone">On a phone</a>
      </div>
      <Trouble error={error} />
      {(data === null || data.length === 0) && (
        <Nothing data={data} error={error} text="Nothing waits for an answer.">
          <a href="/trees?show=running">What runs now</a>
        </Nothing>
      )}
      {data?.map((one) => (
        <Approval
          key={one.id}
          approval={one}
          tree={titles.get(one.root_id) ?? null}
          writes={writes}
          onAnswered={reload}
        />
      ))}
      {data !== null && open > data.length && (
        <p class="hint">{open - data.length} more follow when these are answered.</p>
      )}
    </section>
  );
}

interface ApprovalProps {
  readonly approval: ListedApproval;
  /** Title of its tree; undefined on the pages of that tree. */
  readonly tree?: string | null;
  readonly writes: boolean;
  readonly onAnswered: () => void;
}

/** One approval, with all that a person needs to answer it. */
export function Approval({ approval, tree, writes, onAnswered }: ApprovalProps) {
  const { id, agent_id, agent_name, root_id, tool, subject, input, difference, cwd, rule, shown } = approval;
  const { send, busy, error } = useSending(sayAnswered);
  const note = useRef<HTMLInputElement>(null);
  const [denies, setDenies] = useState(false);
  const [grants, setGrants] = useState(false);
  const answer = async (verdict: 'allow' | 'deny', body: object, said: string) => {
    if (busy || !writes) return;
    if ((await send('POST', `/v1/approvals/${id}/${verdict}`, { ...body, shown })) !== null)
      say(`${said} ${tool} of ${agent_name}`);
    onAnswered();
  };
  const card = useRef<HTMLElement>(null);
  const question = questionOf(approval);
  const asks = question !== null;
  // A question is answered in its form only.
  const once = () => {
    if (asks) card.current?.querySelector<HTMLElement>('form [name], form button')?.focus();
    else void answer('allow', { scope: 'once' }, 'Allowed');
  };
  const grantable = !asks && approval.rules.length > 0;
  // Nothing is granted yet: the form says what would be.
  const askGrant = () => {
    if (!grantable) return;
    setGrants(true);
    setTimeout(() => card.current?.querySelector<HTMLElement>('[data-first]')?.focus());
  };
  const closeGrant = () => {
    setGrants(false);
    card.current?.focus();
  };
  const deny = () => answer('deny', { note: note.current?.value ?? '' }, 'Denied');
  const askNote = () => {
    setDenies(true);
    setTimeout(() => note.current?.focus());
  };
  const keys: Readonly<Record<string, () => void>> = { y: once, s: askGrant, n: askNote };
  return (
    <article
      ref={card}
      class="card"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys answer it only while it has the focus.
      tabIndex={0}
      data-row
      aria-label={`${agent_name} wants ${tool}: ${subject}`}
      onKeyDown={(event) => {
        // Only while the row itself has the focus, so that typing into a note never answers.
        if (event.target !== event.currentTarget || !isFree(event)) return;
        const act = keys[event.key];
        if (act === undefined || !writes) return;
        event.preventDefault();
        act();
      }}
    >
      <h2>
        <a href={`/agents/${agent_id}`}>{agent_name}</a> wants <code>{tool}</code>
        <span class="dim since">
          {' '}
          · asked <When at={approval.asked_at} since />
        </span>
      </h2>
      {question !== null ? (
        <>
          <Call text={`${question.asker} asks: ${question.message}`} />
          {question.url !== undefined && (
            <p>
              Address to visit (nothing opens it): <code>{question.url}</code>
            </p>
          )}
        </>
      ) : difference === null ? (
        <Call text={subject === '' ? input : subject} />
      ) : (
        <>
          <p>
            <code>{spellHidden(subject)}</code>
          </p>
          <Diff text={difference} />
        </>
      )}
      <p class="facts dim">
        {tree !== undefined && (
          <span>
            tree <a href={`/trees/${root_id}`}>{tree ?? root_id.slice(0, 8)}</a>
          </span>
        )}
        <span>
          in <code>{cwd}</code>
        </span>
        <span>
          by rule <code>{rule}</code>
        </span>
      </p>
      <details>
        <summary>Arguments</summary>
        <Output text={spellHidden(pretty(input))} />
      </details>
      <Trouble error={error} />
      {writes && question !== null && (
        <QuestionForm
          id={id}
          fields={question.fields}
          busy={busy}
          onAnswer={(values) => void answer('allow', { scope: 'once', values }, 'Answered')}
        />
      )}
      {writes && grants && (
        <GrantForm
          approval={approval}
          busy={busy}
          onClose={closeGrant}
          onGrant={(grant) => void answer('allow', grant, `Allowed from now on (${grant.rule}):`)}
        />
      )}
      {writes && !grants && (
        <div class="buttons">
          {!asks && <Button does="Allow once" class="primary" disabled={busy} onClick={once} />}
          {grantable && <Button does="Allow from now on…" disabled={busy} onClick={askGrant} />}
          {denies ? (
            <form
              onSubmit={(event) => {
                event.preventDefault();
                void deny();
              }}
            >
              <input
                ref={note}
                type="text"
                placeholder="Why, for the model"
                aria-label="Why, for the model"
                onKeyDown={({ key }) => key === 'Escape' && setDenies(false)}
              />
              <button type="submit" class="danger" disabled={busy}>
                Deny
              </button>
            </form>
          ) : (
            <Button does="Deny…" class="danger" disabled={busy} onClick={askNote} />
          )}
        </div>
      )}
    </article>
  );
}

/** The card goes as soon as somebody's answer is known, so it cannot say that another one came first. */
function sayAnswered({ code, message }: ApiError): void {
  if (code === 'E_ASK_ANSWERED') say(message.replace(/^"[^"]*" means /, ''));
}

/** Indents the JSON that a model wrote; returns invalid JSON unchanged. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
