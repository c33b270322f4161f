// Proves that a ledger of an older schema opens under the current code with all its rows, and works: of the first schema, of one with rows of its own, and of
// the newest; `npm run test:long` takes the others.
import { FEW_SCHEMAS, testOldLedger } from './old-ledgers.ts';

for (const schema of FEW_SCHEMAS) testOldLedger(schema);
