import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Schema = Readonly<Record<string, unknown>>;

const validators = new WeakMap<Schema, ValidateFunction>();

/** What is wrong with a JSON Schema itself; null when it can be used. */
export function schemaFault(schema: Schema): string | null {
  try {
    validatorOf(schema);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What keeps a result from its schema, as a sentence for the model that wrote it; null when it matches. */
export function resultFault(schema: Schema, result: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(result);
  } catch (error) {
    return `the result must be JSON that matches the schema of the task, and it is no JSON: ${(error as Error).message}`;
  }
  const validate = validatorOf(schema);
  if (validate(value)) return null;
  const faults = (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath === '' ? 'the result' : instancePath} ${message}`,
  );
  return `the result does not match the schema of the task: ${faults.slice(0, 8).join('; ')}`;
}

function validatorOf(schema: Schema): ValidateFunction {
  let validate = validators.get(schema);
  if (validate === undefined) {
    // Schemas come from models: unknown words are ignored, nothing is fetched, a fault is an error that they read.
    validate = new Ajv2020({ strict: false, allErrors: true, logger: false }).compile(schema);
    validators.set(schema, validate);
  }
  return validate;
}
