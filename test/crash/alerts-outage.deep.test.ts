// Proves that two servers alert people once of each cause, and of nothing else, across outages of their database that last minutes.
import { describe, it } from 'node:test';
import { alertsAcross } from './alerts-outage.ts';

describe('alerts of two servers across long outages of PostgreSQL', {
  timeout: 900_000,
  concurrency: true,
}, () => {
  it('that refuses connections', () => alertsAcross('stop', [60, 180]));

  it('that is silent', () => alertsAcross('freeze', [60, 180]));
});
