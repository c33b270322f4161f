import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { JSON_DOCUMENTS, PARTS } from '../../documents/shapes/all-documents.ts';
import type { Route } from './route.ts';

type DescribedRoute = Omit<Route, 'handle'>;

interface Shape {
  readonly $defs?: Readonly<Record<string, object>>;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

const ERROR = 'coppice/error/v1';
const NEW_ID = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
  description: 'repeating a request with the same key creates nothing twice',
};

/** Statuses of refusals, at every route (docs/http-api.md, "Errors"). */
const REFUSALS = [400, 401, 403, 404, 409, 413, 429, 500, 503];

/** The OpenAPI 3.1 document of the routes. `url`: address of the server. `calls`: of our client, so that a client that is generated has the same methods. */
export function openApi(
  routes: readonly DescribedRoute[],
  version: string,
  url: string,
  calls: Readonly<Record<string, { readonly route: string }>>,
): object {
  const names = new Map(Object.entries(calls).map(([name, { route }]) => [route, name]));
  const error = content(ERROR);
  const inputs: Record<string, object> = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const id = names.get(`${route.method} ${route.path}`) ?? path.split('/')[2] ?? '';
    if (route.body !== null) inputs[inputName(id)] = shapeOf(route.body);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, id) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Coppice', version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: '`coppice web --token`' } },
      responses: Object.fromEntries(
        REFUSALS.map((status) => [status, { description: STATUS_CODES[status], content: error }]),
      ),
      schemas: { ...schemas(new Set([...routes.map(({ answer }) => answer), ERROR])), ...inputs },
    },
  };
}

/** Schemas of documents, and of the parts that they share, which stand beside them. */
function schemas(names: ReadonlySet<string>): object {
  const parts: Record<string, object> = {};
  const documents = [...names].map((name) => {
    const { $defs, ...shape } = documentSchema(name);
    Object.assign(parts, $defs);
    return [schemaName(name), shape];
  });
  const all = JSON.stringify({ ...Object.fromEntries(documents), ...parts });
  return JSON.parse(all.replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function operation(route: DescribedRoute, id: string): object {
  const { query, body, path, answer, stream } = route;
  const { properties = {}, required = [] } = shapeOf(query);
  return {
    summary: route.summary,
    operationId: id,
    tags: [path.split('/')[2] ?? ''],
    'x-scope': route.scope,
    ...(route.signed === true && { security: [] }),
    parameters: [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...Object.entries(properties).map(([name, schema]) => ({
        name,
        in: 'query',
        required: required.includes(name),
        schema,
      })),
      ...(route.creates === true ? [NEW_ID] : []),
    ],
    ...(body === null
      ? {}
      : { requestBody: { required: true, content: { 'application/json': schemaRef(inputName(id)) } } }),
    responses: {
      [route.signed === true ? 202 : 200]: {
        description: 'done',
        content: content(answer, stream === true ? 'text/event-stream' : 'application/json'),
      },
      ...Object.fromEntries(REFUSALS.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  };
}

function content(document: string, media_type = 'application/json'): object {
  return { [media_type]: schemaRef(schemaName(document)) };
}

function schemaRef(name: string): object {
  return { schema: { $ref: `#/components/schemas/${name}` } };
}

/** `startTree` → `startTree-input`: generators name what they make of a body after this. */
function inputName(id: string): string {
  return `${id}-input`;
}

/** `coppice/agents/v1` → `agents-v1`. */
function schemaName(document: string): string {
  return document.replace('coppice/', '').replace('/', '-');
}

/** The JSON Schema of a document, with its `schema` and the keys of the part that it extends. */
export function documentSchema(name: string): Shape {
  const document = JSON_DOCUMENTS.find((one) => one.name === name);
  if (document === undefined) throw new Error(`there is no document ${name}`);
  const like = document.like === undefined ? null : (PARTS[document.like] ?? null);
  const shape = (like?.extend(document.shape.shape) ?? document.shape).extend({ schema: z.literal(name) });
  return shapeOf(shape);
}

function shapeOf(schema: z.ZodType): Shape {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    io: 'input',
    reused: 'inline',
  }) as Shape & { readonly $schema?: string };
  return shape;
}
