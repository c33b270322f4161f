import type { Problem } from './problem.ts';

/** Text that is specific to one machine or author, which the repository must not contain. The patterns do not match this file itself. */
const RULES: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  {
    pattern: /(?<![\w.~/}-])(?:\/work\/[a-z]|\/root\/[\w.]|\/home\/\w+\/|\/Users\/\w+\/|[A-Z]:\\Users\\)/,
    message:
      'a path of one machine: make it relative, or take it from the environment or a temporary folder.',
  },
  {
    pattern:
      /\b(?:written|generated|authored|created|co-authored|made)[- ](?:by|with)(?: an?| the)? (?:AI|LLM|language model|assistant|bot|Claude|ChatGPT|GPT|Copilot|Codex|Gemini)\b|\bCo-Authored-By\b|\bas an AI\b|\u{1F916}/iu,
    message: 'words about who or what wrote this: the text speaks of the program only.',
  },
];

/** Checks one text, code or prose. */
export function textRules(file: string, text: string): Problem[] {
  return text.split('\n').flatMap((line, index) =>
    RULES.flatMap(({ pattern, message }) => {
      const found = pattern.exec(line);
      return found === null ? [] : [{ file, line: index + 1, message: `"${found[0]}" is ${message}` }];
    }),
  );
}
