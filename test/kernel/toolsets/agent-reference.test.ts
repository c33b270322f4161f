// Proves which agent a word stands for that is neither a name nor an id: "parent" and "user", however they are written.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { find } from '../../../src/kernel/toolsets/acts/agent-reference.ts';
import { requester, viewOf } from './toolset-view.ts';

const above = requester({ name: 'above' });
const view = viewOf(requester(), {}, { lineage: (agent) => [agent, above] });

it('"parent" is the parent, in any case and with blanks around it', () => {
  for (const word of ['parent', 'Parent', 'PARENT', ' parent\n']) {
    const found = find(word, 'to', view);
    assert.equal(found.ok && found.agent.name, 'above', word);
  }
});

it('a person is no agent, in any case; the refusal says where to write', () => {
  for (const word of ['user', 'User', 'HUMAN', ' person ']) {
    const found = find(word, 'to', view);
    assert.match(found.ok ? '' : JSON.stringify(found.refused), /is no agent[.:]/, word);
  }
});
