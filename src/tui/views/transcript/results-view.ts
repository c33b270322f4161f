import { deedsHead } from '../../../records/agent/deeds-line.ts';
import { resultLine } from '../../../records/conversation/child-text.ts';
import { jsonIn } from '../../../records/text/json-text.ts';
import { clean } from '../../../render/clean.ts';
import { statePaint, stateSign } from '../../../render/state-mark.ts';
import { sign, type UiStyle } from '../../../render/style.ts';
import { line, type Part } from '../../text/line.ts';
import type { AgentNames } from './agent-names.ts';

interface SubAgentResult {
  readonly agent_id: string;
  readonly task: string;
  readonly outcome: {
    readonly success?: { readonly result: string; readonly submitted?: false; readonly limit?: string };
    readonly failure?: { readonly error: string; readonly error_kind: string };
  };
  readonly did?: string;
}

/** The aggregated results of a fan-in (docs/vocabularies.md), a row per sub-agent; null for any other text. */
export function resultsView(text: string, width: number, style: UiStyle, names: AgentNames): string[] | null {
  const results = read(text);
  if (results === null) return null;
  const head: Part[] = style.accessible ? [] : [['green', sign(style, '●')], ' '];
  const count = results.length === 1 ? '1 sub-agent' : `${results.length} sub-agents`;
  const rows = results.map(({ agent_id, task, outcome, did }) => {
    const who = clean(names.name(agent_id) ?? task);
    const { success, failure } = outcome;
    const said = clean(
      success === undefined ? (failure?.error ?? '') : resultLine(success.result, success.limit),
    );
    const state = success === undefined ? 'failed' : 'done';
    const word = success === undefined ? clean(failure?.error_kind ?? state).replaceAll('_', ' ') : state;
    const mark = style.accessible ? word : `${stateSign(state, style)} ${word}`;
    return line(style, width, [
      `  ${who}  `,
      [statePaint(state), mark],
      ['dim', `  ${did === undefined ? '' : `(${clean(deedsHead(did))}) `}${said}`],
    ]);
  });
  return [line(style, width, [...head, `results of ${count}`]), ...rows];
}

function read(text: string): readonly SubAgentResult[] | null {
  if (!text.startsWith('{"sub_agent_results":')) return null;
  return (jsonIn(text) as { sub_agent_results: SubAgentResult[] } | undefined)?.sub_agent_results ?? null;
}
