import { z } from 'zod';
import { agent } from './agent-parts.ts';
import { approval, delivery, job, profile, run } from './document-parts.ts';
import { EVENT_DOCUMENT } from './event-documents.ts';
import { error, type JsonDocument } from './json-document.ts';
import { OTHER_DOCUMENTS } from './other-documents.ts';
import { SERVER_DOCUMENTS } from './server-documents.ts';
import { TREE_DOCUMENTS } from './tree-documents.ts';

/** What several documents hold, by name. */
export const PARTS: Readonly<Record<string, z.ZodObject>> = { agent, approval, delivery, job, profile, run };

/** Every JSON document that a command prints, one to a line, or the server answers with. */
export const JSON_DOCUMENTS: readonly JsonDocument[] = [
  ...TREE_DOCUMENTS,
  ...OTHER_DOCUMENTS,
  ...SERVER_DOCUMENTS,
  EVENT_DOCUMENT,
  {
    name: 'coppice/error/v1',
    by: ['every command that fails before it has a result'],
    shape: z.strictObject({ error: error.describe('what is wrong; see [errors](#errors)') }),
  },
];
