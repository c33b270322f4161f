import { FakeClock } from '../../src/library/testing/fake-clock.ts';

/** The clock that programs test their agents with; here it drives a whole runtime. */
export class HandClock extends FakeClock {}
