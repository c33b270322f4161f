import type { CommandBuilder } from '../start/command-builder.ts';

/** `coppice export` */
export function addExportCommand({ sub, imported }: CommandBuilder): void {
  sub('export', 'Write a tree, with all that its agents said, used and wrote, into one file')
    .argument('[id]', "an agent of the tree; default: this folder's newest tree")
    .option('--html', 'a page that any browser opens, without a server; with --json: the documents')
    .option('--markdown', 'a Markdown transcript: messages, calls and results, with a chapter for each agent')
    .option('--out <file>', 'output file; default: standard output')
    .action(imported(async () => (await import('./export.ts')).exportTree));
}
