// Proves that no edit is lost when sixteen agents edit one file thirty times each, and that every line is attributed to its agent.
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { closeOpened } from '../../close-opened.ts';
import { alwaysOnBothDatabases } from '../both-databases.ts';
import { blamed, byTheirEditors, crowdOfEditors, everyEdit, linesOf } from './crowd-of-editors.ts';

afterEach(closeOpened);

alwaysOnBothDatabases('a crowd of editors', (database) => {
  it('sixteen agents edit one file thirty times each', async () => {
    const { on, file } = await crowdOfEditors(16, 30, await database());
    assert.deepEqual(linesOf(file), everyEdit(16, 30));
    assert.deepEqual(await blamed(on, file), byTheirEditors(everyEdit(16, 30)));
  });
});
