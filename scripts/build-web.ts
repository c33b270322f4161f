import { join } from 'node:path';
import { buildWeb } from './build/web.ts';

/** `npm run build:web`, and after `npm ci`: the dashboard for a server that runs from the sources. */
const root = join(import.meta.dirname, '..');
await buildWeb(root, join(root, 'dist'));
