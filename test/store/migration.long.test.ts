// Proves that a ledger of each older schema that `migration.test.ts` leaves out opens under the current code with all its rows, and works.
import { FEW_SCHEMAS, OLD_SCHEMAS, testOldLedger } from './old-ledgers.ts';

for (const schema of OLD_SCHEMAS) if (!FEW_SCHEMAS.includes(schema)) testOldLedger(schema);
