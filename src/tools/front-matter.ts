import { isMap, LineCounter, parseDocument, visit } from 'yaml';

/** Maximum bytes: more than any profile needs, and small enough that hostile YAML is cheap to parse. */
const FRONT_MATTER_MAX = 16 * 1024;

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, unknown>;
  /** Text after the front matter, without blank lines around it. */
  readonly body: string;
}

/**
 * Splits a Markdown text into the YAML between two `---` lines at its head and the rest. Lists are arrays, mappings are
 * Maps: a key such as `__proto__` is a key like any other. No aliases, no tags beyond the core schema.
 *
 * Throws an Error whose message says what is wrong, for the person who wrote the text.
 */
export function splitFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  if (lines[0]?.trimEnd() !== '---') return { fields: new Map(), body: lines.join('\n').trim() };
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---');
  if (end === -1) throw new Error('the front matter has no end: close it with a line ---');
  const yaml = lines.slice(1, end).join('\n');
  if (Buffer.byteLength(yaml) > FRONT_MATTER_MAX)
    throw new Error(`the front matter is larger than ${FRONT_MATTER_MAX / 1024} KB`);
  return {
    fields: fieldsOf(yaml),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}

/** A line of a key and a plain text, which other programs take as it is although a colon in it must be quoted in YAML. */
const PLAIN_TEXT = /^([\w-]+):[ \t]+([^\s"'[{|>&*!#].*(?::[ \t]|[ \t]#).*)$/gm;

function fieldsOf(yaml: string): ReadonlyMap<string, unknown> {
  try {
    return strictFieldsOf(yaml);
  } catch (error) {
    const quoted = yaml.replaceAll(
      PLAIN_TEXT,
      (_, key: string, text: string) => `${key}: ${JSON.stringify(text.trim())}`,
    );
    if (quoted === yaml) throw error;
    try {
      return strictFieldsOf(quoted);
    } catch {
      throw error;
    }
  }
}

function strictFieldsOf(yaml: string): ReadonlyMap<string, unknown> {
  const counter = new LineCounter();
  const document = parseDocument(yaml, {
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: counter,
  });
  // Warnings report unknown tags, whose values would be misread.
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) {
    // Adds one for the line --- that precedes the YAML.
    const { line } = counter.linePos(fault.pos[0]);
    throw new Error(`line ${line + 1} is not valid YAML: ${fault.message.split('\n', 1)[0]}`);
  }
  visit(document, {
    Alias: () => {
      throw new Error('YAML aliases (*name) are not allowed: write the value again');
    },
  });
  if (document.contents === null) return new Map();
  if (!isMap(document.contents)) throw new Error('the front matter must be lines of "key: value"');
  const fields = document.toJS({ mapAsMap: true, maxAliasCount: 0 }) as Map<unknown, unknown>;
  for (const key of fields.keys())
    if (typeof key !== 'string') throw new Error('every key of the front matter must be a plain word');
  return fields as Map<string, unknown>;
}
