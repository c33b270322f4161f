import { join } from 'node:path';
import { buildWeb } from './build/web.ts';

/** `npm run build:web`, also run after `npm ci`: builds the dashboard for a server that runs from the sources. */
const root = join(import.meta.dirname, '..');
await buildWeb(root, join(root, 'dist'));
