import { z } from 'zod';
import {
  type DocumentShapes,
  list,
  maybe,
  maybeGroup,
  maybeNumber,
  number,
  oneOf,
  outcome,
  text,
  texts,
  time,
  yes,
} from './document-parts.ts';

const side = (meaning: string) =>
  maybeGroup(`${meaning}; null: it is not there`, {
    agent_id: text('the agent'),
    outcome: text('how it stands or ended'),
    answer: maybe('its last answer'),
    calls: texts('tools that it called, in order'),
    files: texts('files that it changed, by path in its folder'),
    tokens: number('input and output'),
    cost_usd: maybeNumber('US dollars; null: unknown'),
    duration_ms: number('from its creation to its end or last message'),
  });

/** Documents of commands that look back. */
export const PAST_DOCUMENTS = {
  'coppice/what-if/v1': {
    by: ['what-if', 'tournament'],
    shape: z.strictObject({
      run: text('the workflow run that made them'),
      of: maybe('the root of the tree that is continued; null: cases were run'),
      at: maybe('from which moment, as it was given'),
      cells: list('the continuations or runs, in the order in which they were asked for', {
        name: text('what is different in it'),
        case: maybe('name of the case that was run; null: a tree was continued'),
        entrant: text('what it is a run of'),
        tree: maybe('root of its tree; null: none was made'),
        ...outcome,
        answer: text('the last answer of its root'),
        branch: maybe('of its worktree; null: it has none'),
        files: texts('files that it changed, from the top of the worktree'),
        tokens: number('input and output'),
        cost_usd: maybeNumber('US dollars; null: unknown'),
        seconds: number('from its beginning to its last message'),
        check: maybe('`ok`, or why the command failed; null: there was none'),
        schema_fault: maybe('`ok`, or where its answer does not match; null: there was no schema'),
        passed: yes('it did its work, and passed'),
      }),
      entrants: list(
        'what is compared: each continuation, or each prompt, profile and model over all cases',
        {
          name: text('what is different in it'),
          runs: number('runs of it'),
          passed: number('those that passed'),
          won: maybeNumber('cases in which a run of it was the best; null: there was no judge'),
          tokens: number('of all its runs'),
          cost_usd: maybeNumber('US dollars; null: unknown'),
        },
      ),
      best: maybe('name of the best entrant of which a run passed'),
      why: maybe('why it is the best'),
    }),
  },
  'coppice/why/v1': {
    by: ['why'],
    shape: z.strictObject({
      root_id: text('the tree'),
      call_id: maybe('the call that was asked about'),
      whole: yes('nothing was left out to be short'),
      steps: list('the message that was asked about, then what led to it, each behind what it led to', {
        led_to: maybeNumber('place in `steps`, counted from 0, of what it led to; null for the first'),
        into: maybeNumber('message of the agent of that step in which it arrived'),
        how: oneOf(
          '`asked`: it was asked about; `prompt`: a person said it; `schedule`: a timer did; `created`: it created the agent, with this task; `letter`: it wrote this; `end`: a turn or task ended with it; `file`: it wrote this file, which was then read; `call`: the result of a call of its own',
          'asked',
          'prompt',
          'schedule',
          'created',
          'letter',
          'end',
          'file',
          'call',
        ),
        agent_id: maybe('the agent that did it; null: a person or a timer'),
        agent: maybe('its name'),
        seq: maybeNumber('message with which it was done; null if it is no longer in the ledger'),
        at: time('when'),
        text: text('its first words; of `file`, the path'),
        again: yes('what led to it stands at an earlier step'),
        left_out: number('causes of this step that are left out'),
      }),
    }),
  },
  'coppice/diff/v1': {
    by: ['diff'],
    shape: z.strictObject({
      a: text('the first of the two agents'),
      b: text('the second'),
      same: yes('nothing differs but ids, times, durations, costs and folders'),
      first: maybeGroup('the difference that came first; null: there is none', {
        path: text('names from the compared agent on, joined by `/`; that agent is `main`'),
        what: text('`answer`, `result of TOOL`, `prompt`, `message`; or what else differs'),
        a_seq: maybeNumber('message of the first; null: it has none there'),
        b_seq: maybeNumber('of the second'),
        diff: maybe(
          'hunks of a unified diff, with ids, times, durations and folders masked; null: too large',
        ),
      }),
      agents: list('all of both, matched by names and order', {
        path: text('as above, `(2)` behind the second of several'),
        differs: z
          .array(z.enum(['outcome', 'answer', 'calls', 'files', 'messages']))
          .describe('what differs'),
        a: side('what it did in the first'),
        b: side('in the second'),
      }),
    }),
  },
} as const satisfies DocumentShapes;
