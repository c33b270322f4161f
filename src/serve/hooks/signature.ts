import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { signingKey } from '../../channels/webhook/webhook-channel.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { HookRequest } from '../api/hook-route.ts';
import type { SignatureKind } from './hook-config.ts';
import { fieldAt } from './task-template.ts';

export interface Proof {
  readonly kind: SignatureKind;
  readonly secret: string;
  /** Header of `hmac`. */
  readonly header: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** How far a signed time may be from ours, as the providers recommend. */
const TOLERANCE_S = 300;
const LINEAR_TOLERANCE_S = 60;

/**
 * Checks the signature of a delivery, over the exact bytes of its body. Returns what identifies the delivery: only what its sender has signed, because anybody
 * could send a recorded one again under another id; null if nothing does. Throws `E_UNAUTHORIZED`.
 */
export function verifiedIdentity(sent: HookRequest, payload: unknown, proof: Proof): string | null {
  const { kind, secret, now } = proof;
  const { header, body } = sent;
  const own = hmac(secret, body);
  const digest = hash('sha256', body);
  switch (kind) {
    case 'github':
      assertHas(sent, 'x-hub-signature-256', [`sha256=${own.toString('hex')}`]);
      return digest;
    case 'hmac': {
      const hex = own.toString('hex');
      const forms = [hex, hex.toUpperCase(), own.toString('base64')];
      assertHas(sent, proof.header, [...forms, ...forms.map((form) => `sha256=${form}`)]);
      return digest;
    }
    case 'linear': {
      assertHas(sent, 'linear-signature', [own.toString('hex')]);
      const { webhookTimestamp, ...rest } = Object(payload) as { readonly webhookTimestamp?: number };
      assertRecent((webhookTimestamp ?? Number.NaN) / 1_000, LINEAR_TOLERANCE_S, now);
      return JSON.stringify(rest);
    }
    case 'stripe': {
      const [, time = ''] = /(?:^|,)\s*t=(\d+)/.exec(header('stripe-signature') ?? '') ?? [];
      const expected = hmac(secret, `${time}.`, body).toString('hex');
      assertHas(sent, 'stripe-signature', [`v1=${expected}`], /\s*,\s*/);
      assertRecent(Number(time), TOLERANCE_S, now);
      return `${fieldAt(payload, 'id') ?? digest}`;
    }
    case 'gitlab':
    case 'standard': {
      // A signing token of GitLab follows Standard Webhooks; its older secret token is only repeated.
      const is_token = !secret.startsWith('whsec_') && header('webhook-signature') === undefined;
      if (kind === 'gitlab' && is_token) {
        assertHas(sent, 'x-gitlab-token', [secret]);
        return header('idempotency-key') ?? digest;
      }
      const [id, time] = [header('webhook-id') ?? '', header('webhook-timestamp') ?? ''];
      const key = signingKey(secret) ?? secret;
      const expected = hmac(key, `${id}.${time}.`, body).toString('base64');
      assertHas(sent, 'webhook-signature', [`v1,${expected}`], / +/);
      assertRecent(Number(time), TOLERANCE_S, now);
      return id;
    }
    case 'bearer':
      assertHas(sent, 'authorization', [`Bearer ${secret}`]);
      return header('idempotency-key') ?? null;
  }
}

function hmac(key: string | Buffer, ...parts: readonly (string | Buffer)[]): Buffer {
  const sum = createHmac('sha256', key);
  for (const part of parts) sum.update(part);
  return sum.digest();
}

/** Compares a header, or the parts of it, in constant time, whatever the lengths. */
function assertHas(
  { header }: HookRequest,
  name: string,
  expected: readonly string[],
  between?: RegExp,
): void {
  const given = header(name) ?? '';
  if (given === '')
    throw refused(
      `it has no header ${name}`,
      'Is its secret set? hooks.NAME.signature of the configuration says how it is signed',
    );
  const sum = (text: string) => hash('sha256', text, 'buffer');
  const parts = (between === undefined ? [given] : given.trim().split(between)).map(sum);
  if (expected.map(sum).some((one) => parts.some((part) => timingSafeEqual(one, part)))) return;
  throw refused(
    `its header ${name} does not match`,
    'Its secret must be that of hooks.NAME.secretEnv, and its body must arrive unchanged',
  );
}

function assertRecent(time_s: number, tolerance_s: number, now: number): void {
  const age_s = Math.round(now / 1_000 - time_s);
  if (Math.abs(age_s) <= tolerance_s) return;
  throw refused(
    Number.isNaN(age_s)
      ? 'it says no time'
      : `it was signed ${Math.abs(age_s)} s ${age_s > 0 ? 'ago' : 'ahead'}, and ${tolerance_s} s are allowed`,
    'An old delivery is not taken; if it is new, set the clocks by NTP',
  );
}

function refused(why: string, hint: string): CoppiceError {
  return new CoppiceError('E_UNAUTHORIZED', `the delivery is refused: ${why}`, { hint });
}
