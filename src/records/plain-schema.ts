/** Keywords that are checked when a call is read, but tell a model nothing that its description should not say. */
const UNSAID =
  /^(?:\$schema|additionalProperties|propertyNames|(?:min|max)(?:imum|Length|Properties)|maxItems|exclusiveM(?:in|ax)imum)$/;

/** A JSON Schema as models are sent it: the shape of the arguments and what is said of them, without bounds and without `null`, which means absent. */
export function plainSchema(schema: object): Record<string, unknown> {
  const { anyOf, properties, type, ...rest } = schema as Record<string, unknown>;
  const plain: Record<string, unknown> = {};
  if (Array.isArray(anyOf)) {
    const [only, ...more] = anyOf.filter((one) => one.type !== 'null').map(plainSchema);
    Object.assign(plain, more.length === 0 ? only : { anyOf: [only, ...more] });
  }
  const types = [type ?? []].flat().filter((one) => one !== 'null');
  if (types.length > 0) plain.type = types.length === 1 ? types[0] : types;
  if (properties !== undefined)
    plain.properties = Object.fromEntries(
      Object.entries(properties as object).map(([name, value]) => [name, plainSchema(value)]),
    );
  for (const [key, value] of Object.entries(rest))
    if (!UNSAID.test(key)) plain[key] = key === 'items' ? plainSchema(value as object) : value;
  return plain;
}
