import { z } from 'zod';
import type { DeepReadonly } from '../../records/deep-readonly.ts';
import { agent } from './agent-parts.ts';
import {
  approval,
  type DocumentShapes,
  delivery,
  error,
  grantedRule,
  job,
  profile,
  run,
} from './document-parts.ts';
import { EVENT_DOCUMENT } from './event-documents.ts';
import { OTHER_DOCUMENTS } from './other-documents.ts';
import { PAST_DOCUMENTS } from './past-documents.ts';
import { SERVER_DOCUMENTS } from './server-documents.ts';
import { TREE_DOCUMENTS } from './tree-documents.ts';
import { WORKFLOW_DOCUMENTS } from './workflow-documents.ts';

/** Parts that several documents share, by name. */
const PARTS_BY_NAME = { agent, approval, delivery, granted_rule: grantedRule, job, profile, run };
export const PARTS: Readonly<Record<string, z.ZodObject>> = PARTS_BY_NAME;

const DOCUMENTS = {
  ...TREE_DOCUMENTS,
  ...PAST_DOCUMENTS,
  ...OTHER_DOCUMENTS,
  ...SERVER_DOCUMENTS,
  ...WORKFLOW_DOCUMENTS,
  ...EVENT_DOCUMENT,
  'coppice/error/v1': {
    by: ['every command that fails before it has a result'],
    shape: z.strictObject({ error: error.describe('what is wrong; see [errors](#errors)') }),
  },
};

/** Every JSON document that a command prints (one per line) or that the server answers with. */
export const JSON_DOCUMENTS = Object.entries<DocumentShapes[string]>(DOCUMENTS).map(
  ([name, { by = [], shape = z.strictObject({}), ...more }]) => ({ name, by, shape, ...more }),
);

type Known = typeof DOCUMENTS;
type PartOf<D> = D extends { readonly like: keyof typeof PARTS_BY_NAME }
  ? z.infer<(typeof PARTS_BY_NAME)[D['like']]>
  : unknown;
type OwnOf<D> = D extends { readonly shape: infer Shape extends z.ZodObject } ? z.infer<Shape> : unknown;

export type DocumentOf<Name extends keyof Known> = {
  readonly [N in Name]: { readonly schema: N } & DeepReadonly<PartOf<Known[N]> & OwnOf<Known[N]>>;
}[Name];
