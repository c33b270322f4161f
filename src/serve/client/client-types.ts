import type { z } from 'zod';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { ROUTES } from '../api/all-routes.ts';

/** Types of the client, derived from the table of routes. */

type AnyRoute = (typeof ROUTES)[number];
type KeyOf<R> = R extends { readonly method: infer M extends string; readonly path: infer P extends string }
  ? `${M} ${P}`
  : never;

/** Such as `GET /v1/trees/:tree`. */
export type RouteKey = KeyOf<AnyRoute>;
type RouteOf<Key extends RouteKey> = Key extends `${infer M} ${infer P}`
  ? Extract<AnyRoute, { readonly method: M; readonly path: P }>
  : never;

/** A method of the client. `creates`: as in the table of routes. */
export type Call = {
  readonly [Key in RouteKey]: RouteOf<Key> extends { readonly creates: true }
    ? { readonly route: Key; readonly creates: true }
    : { readonly route: Key };
}[RouteKey];

type Parameters<Path> = Path extends `${string}/:${infer _Name}/${infer Rest}`
  ? [id: string, ...Parameters<`/${Rest}`>]
  : Path extends `${string}/:${string}`
    ? [id: string]
    : [];
type Given<T> = { readonly [Name in keyof T]?: T[Name] | undefined };
type Input<R> = R extends { readonly body: infer Body extends z.ZodObject }
  ? z.input<Body>
  : R extends { readonly query: infer Query extends z.ZodObject }
    ? Given<z.output<Query>>
    : never;
type Last<I> = object extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** `Idempotency-Key` of a call that creates something; default: a new one for each call, kept across its retries. */
  readonly key?: string;
}

/** Arguments: path parameters, then the body or the query, then options. */
export type Method<Key extends RouteKey> = (
  ...args: [...Parameters<RouteOf<Key>['path']>, ...Last<Input<RouteOf<Key>>>]
) => Promise<DocumentOf<RouteOf<Key>['answer']>>;
