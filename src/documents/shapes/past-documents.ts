import { z } from 'zod';
import { list, maybe, maybeNumber, number, oneOf, text, time, yes } from './document-parts.ts';
import type { JsonDocument } from './json-document.ts';

/** Documents of commands that look back. */
export const PAST_DOCUMENTS = [
  {
    name: 'coppice/why/v1',
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
] as const satisfies readonly JsonDocument[];
