/** Proves that two minutes of typing during 200 questions answer none of them, lose no key and leave the draft as typed. */
import { it } from 'node:test';
import { typeUnderApprovals } from './typing-under-approvals.ts';

it('1,334 keys in two minutes while 200 questions come: none is answered, the draft is exact', (test) =>
  typeUnderApprovals(test, { agents: 10, questions: 20, keys: 1_334 }));
