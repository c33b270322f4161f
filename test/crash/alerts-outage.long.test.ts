// Proves that two servers alert people once of each cause, and of nothing else, across outages of their database: shorter and longer than a lease.
// `alerts-outage.deep.test.ts` has those that last minutes.
import { describe, it } from 'node:test';
import { alertsAcross } from './alerts-outage.ts';

describe('alerts of two servers across outages of PostgreSQL', {
  timeout: 400_000,
  concurrency: true,
}, () => {
  it('that refuses connections', () => alertsAcross('stop', [1, 5, 22]));

  it('that is silent', () => alertsAcross('freeze', [1, 8, 22]));
});
