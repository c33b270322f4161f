/** Proves that a person who types while questions appear answers none of them and loses no key; the long form types for two minutes. */
import { it } from 'node:test';
import { typeUnderApprovals } from './typing-under-approvals.ts';

it('24 keys, 90 ms apart, while 12 questions come: none is answered, the draft is exact', (test) =>
  typeUnderApprovals(test, { agents: 4, questions: 3, keys: 24 }));
