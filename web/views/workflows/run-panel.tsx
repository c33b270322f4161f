import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { shownWord } from '../../../src/records/run/outcome.ts';
import { count, dollars, duration } from '../../data/amounts.ts';
import { type Loaded, useApi } from '../../data/api.ts';
import { serverNow } from '../../data/server-clock.ts';
import { Call, Output } from '../../parts/output.tsx';
import type { PageContext } from '../../parts/page.ts';
import { Standing, Status, StatusSign } from '../../parts/status.tsx';
import { Approval } from '../approvals.tsx';
import { RetryAgent, RunActions, SendButton, SkipAgent } from './run-actions.tsx';

export type WorkflowRun = DocumentOf<'coppice/workflow-run/v1'>;
type RunAgent = WorkflowRun['agents'][number];
type Runs = DocumentOf<'coppice/workflow-runs/v1'>;
type Phase = WorkflowRun['phases'][number];

const REFRESH_MS = 2_000;
/** Agents of a phase that are shown before a person asks for more. */
const AGENTS_SHOWN = 60;

/** A run, kept up to date; `id` null: none. */
export function useWorkflowRun(id: string | null): Loaded<WorkflowRun> {
  return useApi<WorkflowRun>(id === null ? null : `/v1/workflow-runs/${id}`, id === null ? 0 : REFRESH_MS);
}

interface RunProps {
  readonly run: WorkflowRun;
  readonly onDone: () => void;
}

/** How a run stands; one that returned although something failed is no success. */
export function RunStatus({ of }: { readonly of: Runs['runs'][number] | WorkflowRun }) {
  if (of.ended_at === null) return <Standing of={of} />;
  return <Status word={of.outcome === 'done' && of.counts.failed > 0 ? 'failed' : of.outcome} />;
}

/** What the run is, how far it is, what a person can do with it. */
export function RunHead({ run, writes, onDone }: RunProps & { readonly writes: boolean }) {
  const { succeeded, failed, skipped, running } = run.counts;
  const agents = succeeded + failed + skipped + running;
  return (
    <div class="run-head">
      <p>
        <strong>{run.name}</strong> <RunStatus of={run} /> <span class="dim">{run.description}</span>
      </p>
      <Counts {...run} {...{ done: succeeded, failed, skipped, agents }} />
      {run.paused !== null && <p class="trouble">Paused by {run.paused}: nothing new begins.</p>}
      {writes && <RunActions run={run} onDone={onDone} />}
    </div>
  );
}

interface CountsProps
  extends Pick<Phase, 'agents' | 'done' | 'failed' | 'skipped' | 'tokens' | 'cost_usd' | 'ended_at'> {
  readonly started_at: string | null;
}

/** `12/40 done · 2 failed · 3 at work · 142k tokens · $0.31 · 2m 10s`. */
function Counts({ agents, done, failed, skipped, tokens, cost_usd, started_at, ended_at }: CountsProps) {
  if (agents === 0 || started_at === null) return <p class="counts dim">no agents yet</p>;
  const took = (ended_at === null ? serverNow() : Date.parse(ended_at)) - Date.parse(started_at);
  const [running, cost] = [agents - done - failed - skipped, dollars(cost_usd)];
  return (
    <p class="counts">
      <span>
        {done}/{agents} done
      </span>
      {failed > 0 && <span class="status failed">✗ {failed} failed</span>}
      {skipped > 0 && <span>{skipped} skipped</span>}
      {running > 0 && <span class="status running">◐ {running} at work</span>}
      <span>{count(tokens)} tokens</span>
      {cost !== '' && <span>{cost}</span>}
      <span>{duration(took)}</span>
    </p>
  );
}

/** A run by phase: what failed and what waits for a person first, then a lane for each phase, the result and the script. */
export function RunPanel({ run, context, onDone }: RunProps & { readonly context: PageContext }) {
  const inside = new Set([run.id, ...run.agents.map(({ id }) => id)]);
  const asks = (context.approvals.data ?? []).filter(({ agent_id }) => inside.has(agent_id));
  const failures = run.agents.filter(isFailed);
  return (
    <div class="run-panel">
      {asks.map((one) => (
        <Approval
          key={one.id}
          approval={one}
          tree={run.name}
          writes={context.writes}
          onAnswered={() => {
            context.approvals.reload();
            onDone();
          }}
        />
      ))}
      {run.outcome === 'failed' && <p class="trouble">{run.outcome_text}</p>}
      {failures.length + run.refused.length > 0 && (
        <section aria-labelledby="failures">
          <h2 id="failures">
            Failures <span class="count">{failures.length + run.refused.length}</span>
          </h2>
          <ul class="failures">
            {run.refused.slice(0, AGENTS_SHOWN).map(({ label, phase, reason }, index) => (
              <li key={index} data-row tabIndex={-1}>
                {label} <span class="dim">{phase}</span> <span>refused: {reason}</span>
              </li>
            ))}
            {failures.slice(0, AGENTS_SHOWN).map((one) => (
              <li key={one.id} data-row tabIndex={-1}>
                <a href={`/agents/${one.id}`}>{one.label}</a> <span class="dim">{one.phase}</span>{' '}
                <span>{one.outcome_text}</span>
              </li>
            ))}
          </ul>
          {failures.length > AGENTS_SHOWN && (
            <p class="hint">{failures.length - AGENTS_SHOWN} more in their phases.</p>
          )}
        </section>
      )}
      {run.phases.map((phase) => (
        <PhaseLane
          key={phase.title ?? ''}
          phase={phase}
          run={run}
          writes={context.writes}
          onDone={onDone}
          agents={run.agents.filter((one) => one.phase === phase.title)}
        />
      ))}
      {run.result !== null && (
        <section aria-labelledby="result">
          <h2 id="result">Result</h2>
          <Output text={run.result} />
        </section>
      )}
      <Script id={run.id} />
    </div>
  );
}

interface PhaseProps extends RunProps {
  readonly phase: Phase;
  readonly agents: readonly RunAgent[];
  readonly writes: boolean;
}

function PhaseLane({ phase, agents, run, writes, onDone }: PhaseProps) {
  const [all, setAll] = useState(false);
  const shown = all ? agents : agents.slice(0, AGENTS_SHOWN);
  const title = phase.title ?? 'Without a phase';
  return (
    <section class="phase-lane" aria-label={title}>
      <h2>
        {title} <span class="dim">{phase.detail}</span>
        {writes && phase.title !== null && agents.some(({ ended_at }) => ended_at === null) && (
          <SendButton run={run} phase={phase.title} onDone={onDone} />
        )}
      </h2>
      <Counts {...phase} />
      <Share of={phase} />
      <ul class="phase-agents">
        {shown.map((one) => (
          <li key={one.id}>
            <a href={`/agents/${one.id}`} title={one.outcome_text}>
              <StatusSign word={shownWord(one.status, one.outcome)} /> {one.label}
            </a>
            {one.kind !== 'agent' && <span class="dim"> {one.kind}</span>}
            {writes && one.kind === 'agent' && run.ended_at === null && one.outcome !== 'done' && (
              <RetryAgent agent={one} onDone={onDone} />
            )}
            {writes && one.ended_at === null && <SkipAgent agent={one} onDone={onDone} />}
          </li>
        ))}
      </ul>
      {agents.length > shown.length && (
        <button type="button" class="fold" onClick={() => setAll(true)}>
          {agents.length - shown.length} more agents
        </button>
      )}
    </section>
  );
}

/** How much of a phase is done, failed and at work; its numbers stand in words beside it. */
function Share({ of }: { readonly of: Phase }) {
  const { agents, done, failed, skipped } = of;
  const parts = { done, failed, skipped, running: agents - done - failed - skipped };
  return (
    <div class="phase-share" aria-hidden="true">
      {Object.entries(parts).map(([name, many]) => (
        <span key={name} class={name} ref={(part) => part?.style.setProperty('flex-grow', String(many))} />
      ))}
    </div>
  );
}

/** The script, loaded once a person opens it. */
function Script({ id }: { readonly id: string }) {
  const [open, setOpen] = useState(false);
  const path = `/v1/workflow-runs/${id}/script`;
  const { data, error } = useApi<DocumentOf<'coppice/workflow-script/v1'>>(open ? path : null);
  return (
    <details class="script" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Script</summary>
      {error !== null && <p class="trouble">{error.message}</p>}
      {data !== null && (
        <>
          {data.args !== null && (
            <p>
              <span class="dim">args</span> <code>{data.args}</code>
            </p>
          )}
          <Call text={data.script} />
        </>
      )}
    </details>
  );
}

function isFailed({ outcome }: RunAgent): boolean {
  return outcome === 'failed' || outcome === 'declined' || outcome === 'cut_short';
}
