/** The dashboard: pages of the browser over the HTTP API. What it shows is set as text, never as HTML. */

import { render } from 'preact';
import { Shell } from './parts/shell.tsx';

const app = document.getElementById('app');
if (app !== null) render(<Shell />, app);
