/** What each program of examples/core prints. */
export const CORE_EXAMPLES: Readonly<Record<string, RegExp>> = {
  'tool.ts': /^oak has 30 rings\n$/,
  'model.ts': /^WHO IS THERE\?\n$/,
  'store.ts': /^Is this written down\?\n$/,
  'toolset.ts':
    /^\+ main\n\+ botanist\n\+ carpenter\n✉ botanist: yes, says the botanist\n✉ carpenter: yes, says the carpenter\ndone\n$/,
};
