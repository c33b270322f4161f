import { useLayoutEffect, useRef } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { WHY_VERBS } from '../../../src/documents/why-verbs.ts';
import type { Loaded } from '../../data/api.ts';
import { Trouble } from '../../parts/trouble.tsx';

export type Why = DocumentOf<'coppice/why/v1'>;

/** What led to a message, back to the prompts of people: the arrows of the timeline, as a list to read. */
export function WhySteps({ why: { data, error } }: { readonly why: Loaded<Why> }) {
  const list = useRef<HTMLOListElement>(null);
  // On a phone it is below the timeline.
  useLayoutEffect(() => list.current?.scrollIntoView({ block: 'nearest' }), [data]);
  if (data === null) return error === null ? <p class="dim">Looking back…</p> : <Trouble error={error} />;
  const depths: number[] = [];
  for (const { led_to } of data.steps) depths.push(led_to === null ? 0 : (depths[led_to] ?? 0) + 1);
  return (
    <ol ref={list} class="why" aria-label="What led to it">
      {data.steps.map(({ how, agent, agent_id, seq, text, again }, at) => (
        <li key={at} ref={(item) => item?.style.setProperty('--depth', String(Math.min(depths[at] ?? 0, 6)))}>
          {agent_id === null || seq === null ? (
            <strong>{agent ?? (how === 'schedule' ? 'a timer' : 'you')}</strong>
          ) : (
            <a href={`/agents/${agent_id}?seq=${seq}`}>
              {agent} #{seq}
            </a>
          )}
          {WHY_VERBS[how]}: <span class="dim">{text}</span>
          {again && <span class="dim"> (see above)</span>}
        </li>
      ))}
      {!data.whole && <li class="dim">Some causes are left out to be short: coppice why --all has them.</li>}
    </ol>
  );
}
