/** The dashboard: browser pages over the HTTP API. Contents are inserted as text, never as HTML. */

import { render } from 'preact';
import { placeLinks } from './data/route.ts';
import { signInByLink } from './data/session.ts';
import { Shell } from './parts/shell.tsx';

placeLinks();
const app = document.getElementById('app');
if (app !== null) void signInByLink().then((trouble) => render(<Shell trouble={trouble} />, app));
