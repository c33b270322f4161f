import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** A delivery as a provider sends it. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text, 'utf8');

/** How each provider documents that it signs. `at`: milliseconds since the epoch. */
export const SENDERS = {
  github: (secret: string, payload: object, event = 'pull_request'): Delivery => {
    const body = JSON.stringify(payload);
    return {
      body,
      headers: {
        'x-github-event': event,
        'x-github-delivery': crypto.randomUUID(),
        'x-hub-signature-256': `sha256=${hmac(secret, body).digest('hex')}`,
      },
    };
  },
  gitlabToken: (secret: string, payload: object, id: string): Delivery => ({
    body: JSON.stringify(payload),
    headers: { 'x-gitlab-event': 'Merge Request Hook', 'x-gitlab-token': secret, 'idempotency-key': id },
  }),
  standard: (secret: string, payload: object, id: string, at = Date.now()): Delivery => {
    const body = JSON.stringify(payload);
    return {
      body,
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
      },
    };
  },
  linear: (secret: string, payload: object, at = Date.now()): Delivery => {
    const body = JSON.stringify({ ...payload, webhookTimestamp: at });
    return {
      body,
      headers: {
        'linear-delivery': crypto.randomUUID(),
        'linear-event': 'Issue',
        'linear-signature': hmac(secret, body).digest('hex'),
      },
    };
  },
  stripe: (secret: string, payload: object, at = Date.now()): Delivery => {
    const body = JSON.stringify(payload);
    const time = Math.floor(at / 1_000);
    return {
      body,
      headers: { 'stripe-signature': `t=${time},v1=${hmac(secret, `${time}.${body}`).digest('hex')},v0=00` },
    };
  },
  hmac: (secret: string, payload: object, header: string): Delivery => {
    const body = JSON.stringify(payload);
    return { body, headers: { [header]: hmac(secret, body).digest('base64') } };
  },
  bearer: (secret: string, payload: object, id?: string): Delivery => ({
    body: JSON.stringify(payload),
    headers: { authorization: `Bearer ${secret}`, ...(id === undefined ? {} : { 'idempotency-key': id }) },
  }),
};
