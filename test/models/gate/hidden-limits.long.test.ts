/** Proves, of every other kind of hidden limit than hidden-limits.test.ts, that the gate finds it in little more than the best possible time. */
import { withinTheBest } from './hidden-play.ts';

withinTheBest('others');
