import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useApi } from '../data/api.ts';
import { EXPORTED } from '../data/exported.ts';
import { isFree, type KeyBinding, Keys, moveRow, useKeys } from '../data/keys.ts';
import { addressNow, go, useRoute } from '../data/route.ts';
import { PAGES } from '../views/pages.tsx';
import { DensityButton } from './density.tsx';
import { SayingDialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { Notices, say } from './notice.tsx';
import type { ListedApproval, PageContext } from './page.ts';
import { loadSeldom } from './seldom.tsx';
import { SignIn } from './sign-in.tsx';
import { When } from './when.tsx';

const APPROVALS_MS = 2_000;
/** Everything around a page: navigation, keys, notices, sign-in. `trouble`: why a link did not sign in. */
export function Shell({ trouble }: { readonly trouble: string | null }) {
  const keys = useRef(new Set<readonly Omit<KeyBinding, 'act'>[]>());
  return (
    <Keys.Provider value={keys.current}>
      <Frame trouble={trouble} />
    </Keys.Provider>
  );
}

function Frame({ trouble }: { readonly trouble: string | null }) {
  const route = useRoute();
  const [name = 'trees'] = route.path;
  const page = PAGES.find(({ path }) => path === name);
  const session = useApi<{ readonly scope: 'read' | 'write'; readonly version: string }>('/v1/session');
  const approvals = useApi<{ readonly approvals: readonly ListedApproval[]; readonly open: number }>(
    session.data === null ? null : '/v1/approvals',
    APPROVALS_MS,
  );
  const waiting = approvals.data?.open ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${page?.title ?? 'Not found'} · Coppice`;
  }, [page, waiting]);
  useEffect(() => {
    if (approvals.data !== null) loadSeldom().catch(() => undefined);
  }, [approvals.data === null]);
  useMoreApprovals(approvals.data === null ? null : waiting);
  if (session.error?.code === 'E_UNAUTHORIZED') return <SignIn trouble={trouble} />;
  const context: PageContext = {
    route,
    writes: session.data?.scope === 'write',
    approvals: { ...approvals, data: approvals.data?.approvals ?? null, open: waiting },
  };
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          <Icon name="trees" /> coppice
        </a>
        <nav aria-label="Pages">
          {PAGES.filter(({ key }) => key !== undefined).map(({ path, title, icon, key }) => (
            <a
              key={path}
              href={`/${path}`}
              aria-current={path === name ? 'page' : undefined}
              title={`g ${key}`}
            >
              <Icon name={icon} /> <span class="label">{title}</span>
              {path === 'approvals' && waiting > 0 && <span class="badge ask"> {waiting}</span>}
            </a>
          ))}
        </nav>
        {session.data?.scope === 'read' && (
          <span class="badge">
            {EXPORTED === null ? (
              'read-only'
            ) : (
              <>
                exported <When at={EXPORTED.exported_at} />
              </>
            )}
          </span>
        )}
        <DensityButton />
        <PageKeys />
      </header>
      <main id="content" tabIndex={-1}>
        {approvals.error?.code === 'E_UNAUTHORIZED' && (
          <p class="trouble" role="alert">
            This browser is not signed in any more.{' '}
            <a href="/" target="_blank" rel="noreferrer">
              Sign in in another tab
            </a>
            : this page then goes on, with what you have typed.
          </p>
        )}
        {page === undefined ? <NotFound /> : page.view(context)}
      </main>
      <Notices />
    </>
  );
}

/** An address that no page has. */
function NotFound() {
  return (
    <section class="not-found" aria-labelledby="not-found">
      <h1 id="not-found">There is no such page</h1>
      <p>
        Nothing is at <code>{addressNow()}</code>. These are the pages:
      </p>
      <ul>
        {PAGES.filter(({ key }) => key !== undefined).map(({ path, title, icon }) => (
          <li key={path}>
            <a href={`/${path}`} data-row>
              <Icon name={icon} /> {title}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows a notice when there are more approvals than before. */
function useMoreApprovals(waiting: number | null): void {
  const before = useRef<number | null>(null);
  useEffect(() => {
    if (waiting !== null && before.current !== null && waiting > before.current)
      say(`${waiting} approval${waiting === 1 ? ' waits' : 's wait'} for you`);
    before.current = waiting;
  }, [waiting]);
}

/** The keys of every page, and the button that lists them. */
function PageKeys() {
  const [listed, setListed] = useState(false);
  useKeys(
    useMemo(
      () => [
        { key: 'j', what: 'next row', act: () => moveRow(1) },
        { key: 'k', what: 'previous row', act: () => moveRow(-1) },
        { key: 'ArrowDown', what: 'next row', act: () => moveRow(1) },
        { key: 'ArrowUp', what: 'previous row', act: () => moveRow(-1) },
        { key: 'Enter', what: 'opens the row', act: openRow },
        { key: '?', what: 'lists the keys', act: () => setListed(true) },
      ],
      [],
    ),
  );
  useEffect(() => {
    let after_g = false;
    const press = (event: KeyboardEvent) => {
      if (!isFree(event)) return;
      const page = after_g ? PAGES.find((one) => one.key === event.key) : undefined;
      after_g = event.key === 'g';
      if (page === undefined) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      go(`/${page.path}`);
    };
    // Captured before the keys of the page, which may use the same letters.
    window.addEventListener('keydown', press, { capture: true });
    return () => window.removeEventListener('keydown', press, { capture: true });
  }, []);
  return (
    <>
      <button type="button" class="quiet" onClick={() => setListed(true)} title="?">
        <Icon name="keys" /> <span class="label">Keys</span>
      </button>
      {listed && <KeyList onClose={() => setListed(false)} />}
    </>
  );
}

/** Action of Enter: clicks the focused control, or the first control of the focused row. */
function openRow(): void {
  const now = document.activeElement as HTMLElement | null;
  if (now?.matches('a, button, summary')) now.click();
  else if (now?.matches('[data-row]')) now.querySelector<HTMLElement>('a, button, summary')?.click();
}

function KeyList({ onClose }: { readonly onClose: () => void }) {
  const all = useContext(Keys);
  const pages = PAGES.flatMap(({ key, title }) =>
    key === undefined ? [] : [{ key: `g ${key}`, what: title }],
  );
  return (
    <SayingDialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {[...[...all].flat(), ...pages].map(({ key, what }) => (
          <div key={key}>
            <dt>
              <kbd>{key.replace('ArrowDown', '↓').replace('ArrowUp', '↑')}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </SayingDialog>
  );
}
