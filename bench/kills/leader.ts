import { type LeadOptions, lead } from './lead.ts';

/** One leader process: `leader.ts OPTIONS`, a `LeadOptions` as JSON. */
await lead(JSON.parse(process.argv[2] ?? '') as LeadOptions);
