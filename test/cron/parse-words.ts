import assert from 'node:assert/strict';
import { parseSchedule, type ScheduleInput } from '../../src/cron/schedule/parse-schedule.ts';
import { CoppiceError, type ErrorCode } from '../../src/records/coppice-error.ts';
import type { Schedule } from '../../src/records/run/cron-job.ts';

export const BERLIN = 'Europe/Berlin';
/** A Friday, 11:00 in Berlin, two days before its clocks are set forward. */
export const NOW = Date.parse('2025-03-28T10:00:00Z');

type Words = ScheduleInput;

export function parse(words: Words, now = NOW): { schedule: Schedule; notes: string[] } {
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  return { schedule: parseSchedule({ ...words, now, default_tz: BERLIN, note }), notes };
}

export function refusal(words: Words, now = NOW): { code: ErrorCode; message: string; hint: string } {
  try {
    parse(words, now);
  } catch (error) {
    assert.ok(error instanceof CoppiceError, String(error));
    return { code: error.code, message: error.message, hint: error.hint ?? '' };
  }
  return assert.fail(`${JSON.stringify(words)} was not refused`);
}

export function invalid(words: Words, message: string, hint: string, now = NOW): void {
  assert.deepEqual(refusal(words, now), { code: 'E_INVALID_ARGUMENT', message, hint });
}
