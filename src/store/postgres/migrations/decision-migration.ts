/** Schema 12: the database decides nothing any more; its functions read facts and write rows. */
export const DECISION_MIGRATION = `
DO $$
DECLARE old regprocedure;
BEGIN
  FOR old IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.proname LIKE 'coppice\\_%' LOOP
    EXECUTE 'DROP FUNCTION ' || old || ' CASCADE';
  END LOOP;
END $$;
`;
