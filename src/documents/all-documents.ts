import { z } from 'zod';
import { error, type JsonDocument } from './json-document.ts';
import { OTHER_DOCUMENTS } from './other-documents.ts';
import { TREE_DOCUMENTS } from './tree-documents.ts';

/** Every JSON document that a command prints, one to a line. */
export const JSON_DOCUMENTS: readonly JsonDocument[] = [
  ...TREE_DOCUMENTS,
  ...OTHER_DOCUMENTS,
  {
    name: 'coppice/error/v1',
    by: ['every command that fails before it has a result'],
    shape: z.strictObject({ error: error.describe('what is wrong; see [errors](#errors)') }),
  },
];
